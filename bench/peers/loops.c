/*
 * The interpolation kernels as plain C loops on a flat array, float32 throughout: what a compiler makes of them.
 *
 * usage: loops NODES POINTS FIELD RANDOM SORTED, then lines "case order points" on standard input; answers each with
 * "seconds u v w": the time of a pass over the first points and the velocity at the first of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAD 8

struct grid {
  int nodes;
  double spacing;
  /* [z][y][x][3], rows longer by PAD repeated nodes. */
  const float *field;
  /* First element of plane and row, for indices that run over the seam by up to PAD. */
  size_t plane[4096 + PAD], row[4096 + PAD];
};

static float inverse[9][8];

static void prepare(void) {
  for (int order = 4; order <= 8; order += 2)
    for (int k = 0; k < order; k++) {
      double product = 1;
      for (int m = 0; m < order; m++)
        if (m != k) product *= k - m;
      inverse[order][k] = (float)(1 / product);
    }
}

static inline __attribute__((always_inline)) int weigh(const struct grid *g, int order, double x, float *w) {
  double s = x / g->spacing, cell = floor(s);
  float t = (float)(s - cell) + (float)(order / 2 - 1), product = 1;
  for (int k = 0; k < order; k++) {
    w[k] = product;
    product *= t - (float)k;
  }
  product = 1;
  for (int k = order - 1; k >= 0; k--) {
    w[k] *= product * inverse[order][k];
    product *= t - (float)k;
  }
  int first = ((int)cell - order / 2 + 1) % g->nodes;
  return first < 0 ? first + g->nodes : first;
}

/* The sum over x first, then y, then z: the loops as the formula is written. */
static inline __attribute__((always_inline)) void dot(const struct grid *g, int order, const double *at, float *out) {
  float x[8], y[8], z[8];
  int i0 = weigh(g, order, at[0], x), j0 = weigh(g, order, at[1], y), k0 = weigh(g, order, at[2], z);
  float u = 0, v = 0, w = 0;
  for (int k = 0; k < order; k++) {
    float pu = 0, pv = 0, pw = 0;
    for (int j = 0; j < order; j++) {
      const float *restrict f = g->field + g->plane[k0 + k] + g->row[j0 + j] + 3 * i0;
      float a = 0, b = 0, c = 0;
      for (int i = 0; i < order; i++) {
        a += x[i] * f[3 * i];
        b += x[i] * f[3 * i + 1];
        c += x[i] * f[3 * i + 2];
      }
      pu += y[j] * a;
      pv += y[j] * b;
      pw += y[j] * c;
    }
    u += z[k] * pu;
    v += z[k] * pv;
    w += z[k] * pw;
  }
  out[0] = u;
  out[1] = v;
  out[2] = w;
}

/* Whole rows weighted and added first, x last: the form that vectorises, and the one our own module uses. */
static inline __attribute__((always_inline)) void rows(const struct grid *g, int order, const double *at, float *out) {
  float x[8], y[8], z[8], sum[24] = {0};
  int i0 = weigh(g, order, at[0], x), j0 = weigh(g, order, at[1], y), k0 = weigh(g, order, at[2], z);
  for (int k = 0; k < order; k++)
    for (int j = 0; j < order; j++) {
      const float *restrict f = g->field + g->plane[k0 + k] + g->row[j0 + j] + 3 * i0;
      float weight = z[k] * y[j];
      for (int i = 0; i < 3 * order; i++) sum[i] += weight * f[i];
    }
  float u = 0, v = 0, w = 0;
  for (int i = 0; i < order; i++) {
    u += x[i] * sum[3 * i];
    v += x[i] * sum[3 * i + 1];
    w += x[i] * sum[3 * i + 2];
  }
  out[0] = u;
  out[1] = v;
  out[2] = w;
}

#define PASS(form, order)                                                                       \
  static void form##order(const struct grid *g, const double *positions, long points, float *out) { \
    for (long p = 0; p < points; p++) form(g, order, positions + 3 * p, out + 3 * p);           \
  }
PASS(dot, 4)
PASS(dot, 6)
PASS(dot, 8)
PASS(rows, 4)
PASS(rows, 6)
PASS(rows, 8)

static const struct {
  const char *name;
  void (*pass)(const struct grid *, const double *, long, float *);
} cases[] = {{"lag4-dot", dot4}, {"lag6-dot", dot6}, {"lag8-dot", dot8},
             {"lag4-rows", rows4}, {"lag6-rows", rows6}, {"lag8-rows", rows8}};

static void *load(const char *file, size_t bytes) {
  FILE *in = fopen(file, "rb");
  void *data = malloc(bytes);
  if (!in || !data || fread(data, 1, bytes, in) != bytes) {
    fprintf(stderr, "cannot read %s\n", file);
    exit(1);
  }
  fclose(in);
  return data;
}

static float *pad(const float *dense, int nodes) {
  size_t length = 3 * ((size_t)nodes + PAD);
  float *field = malloc(sizeof(float) * nodes * nodes * length);
  for (size_t line = 0; line < (size_t)nodes * nodes; line++)
    for (int i = 0; i < nodes + PAD; i++)
      memcpy(field + line * length + 3 * i, dense + 3 * (line * nodes + i % nodes), 3 * sizeof(float));
  return field;
}

int main(int count, char **argument) {
  if (count != 6) return 2;
  static struct grid g;
  long points = atol(argument[2]);
  g.nodes = atoi(argument[1]);
  g.spacing = 2 * M_PI / g.nodes;
  float *dense = load(argument[3], sizeof(float) * 3 * g.nodes * g.nodes * g.nodes);
  g.field = pad(dense, g.nodes);
  free(dense);
  for (int i = 0; i < g.nodes + PAD; i++) {
    g.row[i] = (size_t)(i % g.nodes) * 3 * (g.nodes + PAD);
    g.plane[i] = g.row[i] * g.nodes;
  }
  double *random = load(argument[4], sizeof(double) * 3 * points);
  double *sorted = load(argument[5], sizeof(double) * 3 * points);
  float *out = calloc(3 * points, sizeof(float));
  prepare();
  char name[32], order[32];
  long some;
  while (scanf("%31s %31s %ld", name, order, &some) == 3) {
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      if (strcmp(name, cases[c].name) != 0) continue;
      struct timespec start, end;
      clock_gettime(CLOCK_MONOTONIC, &start);
      cases[c].pass(&g, strcmp(order, "sorted") == 0 ? sorted : random, some, out);
      clock_gettime(CLOCK_MONOTONIC, &end);
      double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
      printf("%.9f %.7g %.7g %.7g\n", seconds, out[0], out[1], out[2]);
      fflush(stdout);
    }
  }
  return 0;
}
