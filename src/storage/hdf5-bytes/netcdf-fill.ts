/**
 * Finds the number that marks missing values of a netCDF variable without the attribute `_FillValue`.
 *
 * Source: netCDF-C 4.9, netcdf.h (NC_FILL_BYTE to NC_FILL_UINT64) and nc_def_var_fill(3); netCDF4-python masks the same
 * numbers, also of variables that are not filled, unless they are bytes.
 */
import type { Stored } from "../dataset/stored.js";

/** Fill values by kind and bytes; fill values of 8 bytes are rounded to float64, as the stored numbers are. */
const DEFAULTS: ReadonlyMap<string, number> = new Map([
  ["float4", 9.969209968386869e36],
  ["float8", 9.969209968386869e36],
  ["int1", -127],
  ["int2", -32_767],
  ["int4", -2_147_483_647],
  ["int8", -(2 ** 63)],
  ["uint1", 255],
  ["uint2", 65_535],
  ["uint4", 4_294_967_295],
  ["uint8", 2 ** 64],
]);

/**
 * The fill value of a dataset whose attributes state none; null if nothing is missing.
 * @param stated   the fill value in the header of the dataset; null if there is none
 * @param isNetcdf whether the file says that netCDF wrote it: old releases leave no mark, but write its default
 */
export function netcdfFill({ element, size, signed }: Stored, stated: number | null, isNetcdf: boolean): number | null {
  const usual = DEFAULTS.get(`${element === "float" ? "float" : signed ? "int" : "uint"}${size}`);
  if (usual === undefined) return null;
  if (isNetcdf) return stated ?? (size === 1 ? null : usual);
  return stated === usual ? stated : null;
}
