/** Profiles in wall units, against the laminar profile between plates, whose shear is known. */
import { expect, it } from "vitest";
import { lawOfTheWall, wallProfile, wallStress } from "../../state/wall-units.js";

const places = Array.from({ length: 33 }, (_, i) => -Math.cos((Math.PI * i) / 32));

it("has the friction velocity of a parabola between walls, and its profile from both of them", () => {
  const nu = 0.02;
  const profile = wallProfile(
    places,
    places.map((y) => 3 + 5 * (1 - y * y)),
    nu,
  );
  // The shear of 5 (1 - y^2) at y = -1 and 1 is 10.
  const friction = Math.sqrt(nu * 10);
  expect(profile?.friction).toBeCloseTo(friction, 10);
  expect(profile?.reynolds).toBeCloseTo(friction / nu, 10);
  expect(profile?.distance).toHaveLength(16);
  for (const [i, distance] of (profile?.distance ?? []).entries()) {
    const y = (distance * nu) / friction;
    const wanted = (5 * (2 * y - y * y)) / friction;
    expect(profile?.fromFirst[i]).toBeCloseTo(wanted, 9);
    expect(profile?.fromLast[i]).toBeCloseTo(wanted, 9);
  }
});

it("has none of a velocity without shear, nor without viscosity", () => {
  const still = places.map(() => 1);
  expect(wallProfile(places, still, 0.02)).toBeNull();
  expect(wallProfile(places, places, 0)).toBeNull();
});

it("draws the law of the wall in two parts", () => {
  const { viscous, log } = lawOfTheWall([1, 5, 100]);
  expect(viscous).toEqual([1, 5, Number.NaN]);
  expect(log[1]).toBeNaN();
  expect(log[2]).toBeCloseTo(16.432, 3);
});

it("has stresses over the square of the friction velocity, as the mean of both halves", () => {
  const mean = places.map((y) => 5 * (1 - y * y));
  const profile = wallProfile(places, mean, 0.02);
  if (profile === null) throw new Error("no profile");
  // Even across the walls, and odd: the second one has another sign at the other wall.
  const even = wallStress(
    places,
    places.map((y) => 1 - Math.abs(y)),
    profile,
    1,
  );
  const odd = wallStress(
    places,
    places.map((y) => -y * (1 - y * y)),
    profile,
    -1,
  );
  for (const [i, distance] of profile.distance.entries()) {
    const y = -1 + (distance * 0.02) / Math.sqrt(0.2);
    expect(even[i]).toBeCloseTo((1 + y) / 0.2, 9);
    expect(odd[i]).toBeCloseTo((-y * (1 - y * y)) / 0.2, 9);
  }
});
