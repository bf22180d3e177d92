/** Descriptions of the operations, printed in both WSDLs. */
import { findOperation, type OperationName } from "./operations.js";

const PURPOSES: Readonly<Record<OperationName, string>> = {
  GetVelocity: "Velocity at points, interpolated in space and time.",
  GetForce: "Body force at points.",
  GetVelocityAndPressure: "Velocity and pressure at points, interpolated in space and time.",
  GetVelocityGradient: "Gradient of velocity at points: nine derivatives, duxdx to duzdz.",
  GetPressureGradient: "Gradient of pressure at points.",
  GetPressureHessian: "Second derivatives of pressure at points.",
  GetVelocityHessian: "Second derivatives of each velocity component at points.",
  GetVelocityLaplacian: "Laplacian of each velocity component at points.",
  GetBoxFilterVelocity: "Mean velocity of cubes centred on the points, in layers of an octree.",
  GetBoxFilterPressure: "Mean pressure of cubes centred on the points, in layers of an octree.",
  GetBoxFilterVelocityGradient: "Mean velocity gradient of cubes centred on the points, in layers of an octree.",
  GetBoxFilterSGSStress: "Subgrid-scale stress of cubes centred on the points, in layers of an octree.",
  GetPositionInertialParticle: "Positions at EndTime of particles with Stokes drag that start at the points.",
  GetPosition: "Positions of fluid particles after nt steps of length dt.",
  GetPositionParticleControl: "Positions of fluid particles at EndTime; the service chooses the step.",
  NullOp: "Returns the points; computes nothing and serves to test throughput.",
  GetMagneticField: "Magnetic field at points, interpolated in space and time.",
  GetVectorPotential: "Vector potential at points, interpolated in space and time.",
  GetPressure: "Pressure at points, interpolated in space and time.",
  GetDensity: "Density at points, interpolated in space and time.",
  GetTemperature: "Temperature at points, interpolated in space and time.",
  GetVelocityAndTemperature: "Velocity and temperature at points, interpolated in space and time.",
  GetMagneticFieldGradient: "Gradient of the magnetic field at points.",
  GetVectorPotentialGradient: "Gradient of the vector potential at points.",
  GetDensityGradient: "Gradient of density at points.",
  GetTemperatureGradient: "Gradient of temperature at points.",
  GetMagneticHessian: "Second derivatives of the magnetic field at points.",
  GetVectorPotentialHessian: "Second derivatives of the vector potential at points.",
  GetDensityHessian: "Second derivatives of density at points.",
  GetTemperatureHessian: "Second derivatives of temperature at points.",
  GetMagneticFieldLaplacian: "Laplacian of the magnetic field at points.",
  GetVectorPotentialLaplacian: "Laplacian of the vector potential at points.",
  GetPositionByEnd: "Positions of fluid particles at EndTime, by steps of length dt.",
  GetThreshold: "Nodes of a box at which a quantity exceeds a threshold, with its values.",
  GetInvariant: "Invariants of the velocity gradient at points.",
  GetBoxFilter: "Mean of a field over a cube of nodes around each point.",
  GetBoxFilterSGS: "Subgrid-scale stress of one field over a cube of nodes around each point.",
  GetBoxFilterSGSsymtensor: "Subgrid-scale stress of one vector field over a cube of nodes around each point.",
  GetBoxFilterSGStensor: "Subgrid-scale covariance of two vector fields over a cube of nodes around each point.",
  GetBoxFilterSGSvector: "Subgrid-scale covariance of a vector and a scalar over a cube of nodes around each point.",
  GetBoxFilterSGSscalar: "Subgrid-scale covariance of two scalars over a cube of nodes around each point.",
  GetBoxFilterGradient: "Gradient of the mean of a field over cubes of nodes around each point.",
  GetField: "Any field at points, by its name.",
  GetFieldGradient: "Gradient of any field at points.",
  GetFieldHessian: "Second derivatives of any field at points.",
  GetFieldLaplacian: "Laplacian of any vector field at points.",
  GetLaplacianOfGradient: "Laplacian of the gradient of a field at points.",
  GetVelocityBatch: "Velocity at points, as GetVelocity answers it.",
  GetRawVelocity: "Stored velocity of a box of nodes.",
  GetRawMagneticField: "Stored magnetic field of a box of nodes.",
  GetRawVectorPotential: "Stored vector potential of a box of nodes.",
  GetRawPressure: "Stored pressure of a box of nodes.",
  GetRawDensity: "Stored density of a box of nodes.",
  GetRawTemperature: "Stored temperature of a box of nodes.",
  GetAnyCutoutWeb: "Stored values of a box of nodes, with strides and means over cubes of nodes.",
  GetData_Python: "Values or derivatives at points given as lists of numbers; function_name says which.",
  GetFilter_Python: "Box filters at points given as lists of numbers; function_name says which.",
  GetPosition_Python: "Positions of fluid particles at EndTime, from points given as lists of numbers.",
  GetThreshold_Python: "Nodes of a box at which a quantity exceeds a threshold, as lists of numbers.",
};

/** Operations that the interface's specification marks as unfinished. */
const UNDER_DEVELOPMENT: ReadonlySet<string> = new Set([
  "GetForce",
  "GetPositionInertialParticle",
  "GetPosition",
  "GetPositionParticleControl",
]);

/** Bounds of `filterlength`; the upper one is the limit `query.filterSamples`. */
const FILTER_BOUNDS =
  " filterlength is at least the smallest spacing dx; points times 8^ceil(log2(filterlength/dx)) is at most 500000000 by default.";

/** Description of an operation, in a few sentences; empty if the name is unknown. */
export function purposeOf(name: string): string {
  const row = findOperation(name);
  if (row === undefined) return "";
  const more = `${row.family === "filter" ? FILTER_BOUNDS : ""}${UNDER_DEVELOPMENT.has(name) ? " Under development; may change." : ""}`;
  return `${PURPOSES[row.name]}${more}`;
}
