/**
 * Shaders of planes, surfaces and lines. What a pane does not show is removed by the preprocessor: without a graphics
 * card a branch that is not taken costs as much as one that is.
 */

/** Functions of all shaders: texture coordinates of positions, which are from the first node, and colours of values. */
const COMMON = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler3D;
precision highp sampler2D;
uniform vec3 spacing, extent, samples, periodic, stretched;
uniform sampler2D places;
uniform sampler2D colours;
uniform vec3 range;

// Texture coordinates of a position: by a table along stretched axes, linear along others.
vec3 texelOf(vec3 p) {
  vec3 along = p / extent;
  along -= floor(along) * periodic;
  vec3 node = along * extent / spacing;
#ifdef STRETCHED
  vec3 at = (clamp(along, 0.0, 1.0) * 4095.0 + 0.5) / 4096.0;
  vec3 table = vec3(texture(places, vec2(at.x, 0.5 / 3.0)).r, texture(places, vec2(at.y, 0.5)).r, texture(places, vec2(at.z, 2.5 / 3.0)).r);
  node = mix(node, table, stretched);
#endif
  return (node + 0.5) / samples;
}

// range: low, high, linear part of a symmetric log.
float shadeOf(float v) {
#if defined(LOG)
  return log(max(v, range.x) / range.x) / log(range.y / range.x);
#elif defined(SYMLOG)
  float top = max(abs(range.x), abs(range.y));
  return 0.5 + 0.5 * sign(v) * log(1.0 + abs(v) / range.z) / log(1.0 + top / range.z);
#else
  return (v - range.x) / (range.y - range.x);
#endif
}

vec3 colourOf(float shade) {
  return texelFetch(colours, ivec2(clamp(shade, 0.0, 1.0) * 1023.0 + 0.5, 0), 0).rgb;
}
`;

export const PLANE = `${COMMON}
uniform sampler3D volume;
uniform sampler2D picture;
uniform sampler3D brush;
uniform vec2 stored, storedPicture, storedBrush;
uniform vec3 brushScale;
uniform vec2 brushRange;
uniform vec4 pane;
uniform vec3 origin, across, up;
uniform vec3 texelOrigin, texelAcross, texelUp;
uniform vec3 inPlane;
uniform vec2 planeOrigin;
uniform float planeStep;
uniform vec4 pictureBox;
uniform vec2 pictureTiles;
uniform float swipe, ratio;
uniform vec3 ground, hatch;
// Opaque where there are values: streaks are laid over those only.
out vec4 colour;

float hatching(vec2 at) { return step(0.5, fract((at.x + at.y) / 9.0)); }

void main() {
  vec2 at = gl_FragCoord.xy - pane.xy;
#ifdef SWIPED
  if (swipe > 0.0 && at.x > swipe) discard;
  if (swipe < 0.0 && at.x < -swipe) discard;
#endif
  vec3 p = origin + at.x * across + at.y * up;
#ifdef BOUNDED
  // Distance outside the walls and open ends of the box, in lengths; below 0 inside.
  vec3 beyond = (abs(p / extent - 0.5) - 0.5) * extent * (1.0 - periodic) * inPlane;
  float outside = max(beyond.x, max(beyond.y, beyond.z));
  if (outside > 0.0) {
    float px = outside / (length(across) * ratio);
    colour = vec4(px < 14.0 ? mix(ground, hatch, hatching(at) * (1.0 - px / 14.0)) : ground, 0.0);
    return;
  }
#endif
#ifdef AFFINE
  vec3 texel = texelOrigin + at.x * texelAcross + at.y * texelUp;
#else
  vec3 texel = texelOf(p);
#endif
  float value = 0.0, known = 1.0;
  bool done = false;
#ifdef PICTURE
  {
    vec2 in2 = (planeOrigin + at * planeStep - pictureBox.xy) / pictureBox.zw;
    in2 -= floor(in2) * pictureTiles;
    if (all(greaterThanEqual(in2, vec2(0.0))) && all(lessThanEqual(in2, vec2(1.0)))) {
      vec2 n = vec2(textureSize(picture, 0));
      vec2 uv = in2 + pictureTiles * 0.5 / n;
      vec2 s = texture(picture, uv).rg;
      value = s.r;
#ifdef MASKED_PICTURE
      known = s.g;
      value /= max(s.g, 1e-6);
#endif
      value = value * storedPicture.x + storedPicture.y;
      done = true;
    }
  }
#endif
#ifndef WHOLE
  if (!done) {
    vec2 s = texture(volume, texel).rg;
    value = s.r;
#ifdef MASKED
    known = s.g;
    value /= max(s.g, 1e-6);
#endif
    value = value * stored.x + stored.y;
  }
#endif
  if (known < 0.999) { colour = vec4(mix(ground, hatch, hatching(at)), 0.0); return; }
  vec3 shown = colourOf(shadeOf(value));
#ifdef BRUSH
  vec3 brushed = ((texel * samples - 0.5) * brushScale + 0.5) / vec3(textureSize(brush, 0));
  vec2 s = texture(brush, brushed).rg;
#ifndef MASKED_BRUSH
  s.g = 1.0;
#endif
  float b = s.r / max(s.g, 1e-6) * storedBrush.x + storedBrush.y;
  bool inside = s.g >= 0.999 && b >= brushRange.x && b <= brushRange.y;
  // None where the value is a bound and does not change.
  bool isOutline = min(abs(b - brushRange.x), abs(b - brushRange.y)) < fwidth(b);
  if (!inside) shown = mix(ground, shown, 0.35);
  if (isOutline && s.g >= 0.999) shown = vec3(0.95);
#endif
  colour = vec4(shown, 1.0);
}`;

export const STREAKED = `#version 300 es
precision highp float;
uniform sampler2D picture, streaks;
uniform vec4 pane;
out vec4 colour;
void main() {
  vec2 at = gl_FragCoord.xy - pane.xy;
  vec4 shown = texelFetch(picture, ivec2(at), 0);
  // Less their mean over 8 by 8 pixels: the mean colour stays that of the bar.
  vec2 uv = at / pane.zw;
  float light = (textureLod(streaks, uv, 0.0).r - textureLod(streaks, uv, 2.0).r) * 2.0 * shown.a;
  // Light colours cannot become lighter: their streaks are fainter.
  float most = max(shown.r, max(shown.g, shown.b));
  float size = clamp(0.6 * (1.0 - most), 0.05, 0.15);
  colour = vec4(clamp(shown.rgb * (1.0 + size * light) + 0.012 * light, 0.0, 1.0), 1.0);
}`;

/** A line of the pane, dashed if dashes have a length. */
export const RULE = `#version 300 es
precision highp float;
uniform vec4 tint;
uniform vec2 dash;
uniform float side;
out vec4 colour;
void main() {
  float along = side > 0.5 ? gl_FragCoord.x : gl_FragCoord.y;
  float shown = dash.x > 0.0 ? step(fract(along / dash.x), dash.y) : 1.0;
  colour = vec4(tint.rgb, 1.0) * tint.a * shown;
}`;

/** The lines of the crosshair, a pixel wide, and its ring with a dark edge. */
export const CROSSHAIR = `#version 300 es
precision highp float;
uniform vec2 crosshair;
uniform vec3 mark;
uniform float ratio;
out vec4 colour;
void main() {
  vec2 d = abs(gl_FragCoord.xy - crosshair);
  float ring = abs(length(d) - 7.0 * ratio);
  float edge = 0.7 * clamp(2.3 * ratio - ring, 0.0, 1.0);
  float line = 0.75 * max(step(d.x, 0.5 * ratio), step(d.y, 0.5 * ratio));
  float circle = clamp(1.2 * ratio - ring, 0.0, 1.0);
  vec3 shown = mix(mix((vec3(1.0) - mark) * edge, mark, line), mark, circle);
  colour = vec4(shown, 1.0 - (1.0 - edge) * (1.0 - line) * (1.0 - circle));
}`;

export const SURFACE = `${COMMON}
#ifdef OCCLUSION
#define SHADOW_PACE 0.99
#else
#define SHADOW_PACE 1.6
#endif
precision highp usampler3D;
uniform sampler3D field, volume;
uniform usampler3D empty;
uniform vec2 stored, storedColour;
uniform float level, side;
uniform vec3 eye, right, above, forward;
uniform vec4 pane;
uniform vec2 view;
uniform vec3 low, high, fineSpacing, fineSamples;
uniform vec3 lamp;
layout(location = 0) out vec4 colour;
layout(location = 1) out vec4 depth;

vec3 cellOf(vec3 p) { return p / fineSpacing; }

float at(vec3 p) {
  vec2 s = texture(field, (cellOf(p) + 0.5) / fineSamples).rg;
#ifdef MASKED
  return s.g < 0.999 ? -1e-30 : side * ((s.r / s.g) * stored.x + stored.y - level);
#else
  return side * (s.r * stored.x + stored.y - level);
#endif
}

// Number of empty blocks of four cells around a position.
int emptyAt(vec3 p) {
  vec3 n = fineSamples;
  vec3 c = cellOf(p);
  c -= mix(vec3(0.0), floor(c / n) * n, periodic);
  ivec3 block = clamp(ivec3(floor(c / 4.0)), ivec3(0), textureSize(empty, 0) - 1);
  return int(texelFetch(empty, block, 0).r);
}

vec3 gradient(vec3 p) {
  vec3 h = fineSpacing;
  return vec3(
    at(p + vec3(h.x, 0, 0)) - at(p - vec3(h.x, 0, 0)),
    at(p + vec3(0, h.y, 0)) - at(p - vec3(0, h.y, 0)),
    at(p + vec3(0, 0, h.z)) - at(p - vec3(0, 0, h.z))) / h;
}

vec2 through(vec3 o, vec3 d) {
  vec3 a = (low - o) / d, b = (high - o) / d;
  vec3 n = min(a, b), f = max(a, b);
  return vec2(max(max(n.x, n.y), n.z), min(min(f.x, f.y), f.z));
}

// Distance to the surface along a ray between two distances; negative if there is none.
float march(vec3 o, vec3 d, float from, float to, float pace) {
  float h = min(fineSpacing.x, min(fineSpacing.y, fineSpacing.z));
  float t = from, before = from;
  // The last two values and distances: at a grazing ray a maximum between them may touch the surface.
  float v1 = -1e30, v2 = -1e30, t1 = from, t2 = from;
  for (int i = 0; i < 900; i++) {
    if (t > to) return -1.0;
    vec3 p = o + t * d;
    int blocks = emptyAt(p);
    if (blocks > 0) {
      before = t;
      t += blocks > 1 ? max(float(blocks - 1) * 4.0 - 0.5, 1.0) * h : h;
      v1 = v2 = -1e30;
      continue;
    }
    float v = at(p);
    float hit = v > 0.0 ? t : -1.0;
    if (hit < 0.0 && pace < 1.0 && v2 > -1e29 && v1 > v2 && v1 >= v) {
      float s = 0.5 * (v2 - v) / min(v2 - 2.0 * v1 + v, -1e-20);
      float peak = t1 + clamp(s, -0.9, 0.9) * (t - t1);
      if (at(o + peak * d) > 0.0) { hit = peak; before = t2; }
    }
    if (hit >= 0.0) {
      float a = before, b = hit;
      for (int k = 0; k < 7; k++) {
        float m = 0.5 * (a + b);
        if (at(o + m * d) > 0.0) b = m; else a = m;
      }
      return b;
    }
    v2 = v1; t2 = t1;
    v1 = v; t1 = t;
    before = t;
    t += h * pace;
  }
  return -1.0;
}

vec3 linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
vec3 display(vec3 c) { c = clamp(c, 0.0, 1.0); return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }
float random(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }

void main() {
  vec2 uv = (gl_FragCoord.xy - pane.xy) / pane.zw * 2.0 - 1.0;
  vec3 d = forward + uv.x * view.x * right + uv.y * view.y * above;
  float size = length(d);
  d /= size;
  d += vec3(equal(d, vec3(0.0))) * 1e-6;
  vec2 span = through(eye, d);
  colour = vec4(0.0);
  depth = vec4(1e6);
  if (span.y <= max(span.x, 0.0)) return;
  float from = max(span.x, 0.0) + 1e-4 * fineSpacing.x;
  vec3 entry = eye + from * d;
  bool cap = at(entry) > 0.0;
  float t = cap ? from : march(eye, d, from, span.y, 0.8);
  if (t < 0.0) return;
  vec3 p = eye + t * d;
  vec3 n;
  if (cap) {
    vec3 q = (p - low) / (high - low) - 0.5;
    vec3 s = abs(q);
    n = s.x > s.y && s.x > s.z ? vec3(sign(q.x), 0, 0) : s.y > s.z ? vec3(0, sign(q.y), 0) : vec3(0, 0, sign(q.z));
  } else {
    vec3 g = gradient(p);
    n = -normalize(g / max(max(abs(g.x), abs(g.y)), max(abs(g.z), 1e-30)) + 1e-12);
  }
  if (dot(n, d) > 0.0) n = -n;
  vec2 s = texture(volume, texelOf(p)).rg;
#ifndef MASKED_COLOUR
  s.g = 1.0;
#endif
  // Grey where there is no value.
  vec3 base = linear(s.g < 0.999 ? vec3(0.5) : colourOf(shadeOf(s.r / s.g * storedColour.x + storedColour.y)));
  float h = min(fineSpacing.x, min(fineSpacing.y, fineSpacing.z));
  vec3 start = p + n * h * 1.6;
  float key = max(dot(n, lamp), 0.0);
  float shadow = 1.0;
  if (key > 0.0) {
    float reach = through(start, lamp).y;
    if (reach > 0.0 && march(p + n * h * 2.0, lamp, h, reach, SHADOW_PACE) >= 0.0) shadow = 0.06;
  }
  float open = 0.82;
#ifdef OCCLUSION
  {
    vec3 t1 = normalize(abs(n.y) < 0.9 ? cross(n, vec3(0, 1, 0)) : cross(n, vec3(1, 0, 0)));
    vec3 t2 = cross(n, t1);
    float turn = random(gl_FragCoord.xy) * 6.2831853;
    float closed = 0.0;
    for (int i = 0; i < 16; i++) {
      float z = sqrt((float(i) + 0.5) / 16.0);
      float r = sqrt(1.0 - z * z);
      float angle = turn + float(i) * 2.39996323;
      vec3 ray = z * n + r * (cos(angle) * t1 + sin(angle) * t2);
      for (int k = 1; k <= 3; k++) {
        float reach = h * 2.2 * float(k) * float(k);
        vec3 q = start + ray * reach;
        if (any(lessThan(q, low)) || any(greaterThan(q, high))) break;
        if (emptyAt(q) <= 1 && at(q) > 0.0) { closed += 1.0 - 0.2 * float(k - 1); break; }
      }
    }
    open = 1.0 - 0.85 * closed / 16.0;
  }
#endif
  float sky = 0.5 + 0.5 * n.y;
  float fill = max(dot(n, normalize(-lamp + 1.4 * vec3(0, 0.6, 0) - 0.9 * d)), 0.0);
  float light = open * (0.09 + 0.17 * sky + 0.15 * fill) + 0.98 * key * shadow * mix(1.0, open, 0.35);
  vec3 halfway = normalize(lamp - d);
  float gloss = cap ? 0.0 : pow(max(dot(n, halfway), 0.0), 42.0) * shadow * 0.16;
  float rim = cap ? 0.0 : pow(1.0 - max(dot(n, -d), 0.0), 3.0) * 0.10 * open;
  vec3 shown = base * light * (cap ? 1.06 : 1.0) + gloss + rim * base;
  float far = clamp((t - span.x) / (length(high - low)), 0.0, 1.0);
  shown = mix(shown, shown * 0.45 + vec3(0.006, 0.008, 0.011), 0.75 * smoothstep(0.15, 1.0, far));
  colour = vec4(display(shown), 1.0);
  depth = vec4(t / size, t, 0.0, 1.0);
}`;

export const COMPOSE = `#version 300 es
precision highp float;
uniform sampler2D picture, depth, faint, faintDepth;
uniform vec4 pane;
uniform vec3 top, bottom;
out vec4 colour;
void main() {
  vec2 uv = (gl_FragCoord.xy - pane.xy) / pane.zw;
  vec3 ground = mix(bottom, top, uv.y) * (1.0 - 0.10 * dot(uv - 0.5, uv - 0.5));
  vec4 c = texture(picture, uv);
#ifdef SMOOTH
  // Edges are smoothed along the direction in which opacity and lightness vary least.
  vec2 px = 1.0 / vec2(textureSize(picture, 0));
  vec4 n = texture(picture, uv + vec2(0.0, px.y)), s = texture(picture, uv - vec2(0.0, px.y));
  vec4 e = texture(picture, uv + vec2(px.x, 0.0)), w = texture(picture, uv - vec2(px.x, 0.0));
  vec4 weights = vec4(0.3, 0.5, 0.1, 0.6);
  float m = dot(c, weights);
  vec4 around = vec4(dot(n, weights), dot(s, weights), dot(e, weights), dot(w, weights));
  vec2 slope = vec2(around.z - around.w, around.x - around.y);
  float contrast = max(max(around.x, around.y), max(around.z, around.w)) - min(min(around.x, around.y), min(around.z, around.w));
  if (contrast > 0.09) {
    vec2 along = normalize(vec2(-slope.y, slope.x) + 1e-5) * px;
    c = 0.28 * c + 0.24 * (texture(picture, uv + 0.7 * along) + texture(picture, uv - 0.7 * along))
      + 0.12 * (texture(picture, uv + 1.8 * along) + texture(picture, uv - 1.8 * along));
  }
#endif
#ifdef FAINT
  vec4 f = 0.2 * texture(faint, uv);
  c = texture(faintDepth, uv).r < texture(depth, uv).r ? f + c * (1.0 - f.a) : c + f * (1.0 - c.a);
#endif
  ground += (fract(52.98 * fract(dot(gl_FragCoord.xy, vec2(0.0671, 0.00584)))) - 0.5) / 255.0;
  colour = vec4(ground * (1.0 - c.a) + c.rgb, 1.0);
}`;

/** Segments as strips of a width in pixels, hidden behind the surface. */
export const SEGMENT_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 tint;
uniform mat4 matrix;
uniform vec4 pane;
uniform float width;
out vec4 shade;
out float edge;
out float away;
void main() {
  vec4 a = matrix * vec4(from, 1.0), b = matrix * vec4(to, 1.0);
  float least = 2e-4;
  if (a.w < least && b.w < least) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (a.w < least) a = mix(a, b, (least - a.w) / (b.w - a.w));
  if (b.w < least) b = mix(b, a, (least - b.w) / (a.w - b.w));
  vec2 direction = (b.xy / b.w - a.xy / a.w) * pane.zw;
  direction = length(direction) < 1e-6 ? vec2(1.0, 0.0) : normalize(direction);
  vec2 normal = vec2(-direction.y, direction.x) * (width + 1.0) / pane.zw;
  bool second = gl_VertexID == 1 || gl_VertexID == 2 || gl_VertexID == 4;
  float side = gl_VertexID == 0 || gl_VertexID == 1 || gl_VertexID == 3 ? 1.0 : -1.0;
  vec4 p = second ? b : a;
  gl_Position = vec4((p.xy / p.w + normal * side), 0.0, 1.0);
  edge = side * (width + 1.0) * 0.5;
  away = p.w;
  shade = tint;
}`;

export const SEGMENT_FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade;
in float edge;
in float away;
uniform sampler2D depth;
uniform vec4 pane;
uniform float width;
uniform bool hasDepth;
out vec4 colour;
void main() {
  float alpha = shade.a * clamp(width * 0.5 + 0.5 - abs(edge), 0.0, 1.0);
  if (hasDepth && texture(depth, (gl_FragCoord.xy - pane.xy) / pane.zw).r < away - 2e-4) alpha *= 0.12;
  colour = vec4(shade.rgb * alpha, alpha);
}`;
