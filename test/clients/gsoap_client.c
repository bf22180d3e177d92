/* Calls every operation through gSOAP's generated stubs and prints the numbers: gsoap_client URL VERSION [DATASET].
   The values are those of arguments.ts. */
#include "soapH.h"
#include "TurbulenceServiceSoap.nsmap"

static struct ns1__Point3 points_[] = {{1, 2, 3}, {4, 5, 6}};
static struct ns1__Vector3 vectors_[] = {{0.1f, 0.2f, 0.3f}, {0.4f, 0.5f, 0.6f}};
static struct ns1__ArrayOfPoint3 points = {2, points_};
static struct ns1__ArrayOfVector3 velocities = {2, vectors_};
static const char *separator = "{";

static void print(const char *operation, int count, const float *numbers, int components) {
  printf("%s\"%s\":[", separator, operation);
  for (int i = 0; i < count; i++) {
    printf(i ? ",[" : "[");
    for (int c = 0; c < components; c++) printf(c ? ",%.9g" : "%.9g", numbers[i * components + c]);
    printf("]");
  }
  printf("]");
  separator = ",";
}

#define COMMON .authToken = "a", .dataset = dataset
#define CALL(op, Record, components, ...)                                                                  \
  do {                                                                                                     \
    struct _ns1__##op in = {__VA_ARGS__};                                                                  \
    struct _ns1__##op##Response out;                                                                       \
    if (soap_call___ns1__##op(soap, url, NULL, &in, &out) != SOAP_OK) {                                    \
      soap_print_fault(soap, stderr);                                                                      \
      return 1;                                                                                            \
    }                                                                                                      \
    print(#op, out.op##Result->__size##Record, (const float *)out.op##Result->Record, components);         \
  } while (0)
#define INTERPOLATED(op, Record, components, method)                                                       \
  CALL(op, Record, components, COMMON, .time = 0.1f, .spatialInterpolation = ns1__SpatialInterpolation__##method, \
       .temporalInterpolation = ns1__TemporalInterpolation__PCHIP, .points = &points)
#define FILTERED(op, Record, components)                                                                   \
  CALL(op, Record, components, COMMON, .time = 0.1f, .filterlength = 0.6f, .nlayers = 1,                   \
       .temporalInterpolation = ns1__TemporalInterpolation__None, .points = &points)

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *url = argv[1];
  char *dataset = argc > 3 ? argv[3] : "isotropic32";
  struct soap *soap = soap_new1(SOAP_C_UTFSTRING);
  soap_set_version(soap, strcmp(argv[2], "1.1") == 0 ? 1 : 2);
  INTERPOLATED(GetVelocity, Vector3, 3, Lag8);
  INTERPOLATED(GetForce, Vector3, 3, Lag8);
  INTERPOLATED(GetVelocityAndPressure, Vector3P, 4, Lag8);
  INTERPOLATED(GetVelocityGradient, VelocityGradient, 9, None_USCOREFd4);
  INTERPOLATED(GetPressureGradient, Vector3, 3, None_USCOREFd4);
  INTERPOLATED(GetPressureHessian, PressureHessian, 6, None_USCOREFd4);
  INTERPOLATED(GetVelocityHessian, VelocityHessian, 18, None_USCOREFd4);
  INTERPOLATED(GetVelocityLaplacian, Vector3, 3, None_USCOREFd4);
  FILTERED(GetBoxFilterVelocity, Vector3, 3);
  FILTERED(GetBoxFilterPressure, float_, 1);
  FILTERED(GetBoxFilterVelocityGradient, VelocityGradient, 9);
  FILTERED(GetBoxFilterSGSStress, SGSStress, 6);
  CALL(GetPositionInertialParticle, Point3, 3, COMMON, .StartTime = 0.1f, .EndTime = 0.3f, .Tp = 0.5f,
       .spatialInterpolation = ns1__SpatialInterpolation__Lag4, .points = &points, .InitialV = &velocities);
  CALL(GetPosition, Point3, 3, COMMON, .StartTime = 0.1f, .dt = 0.02f, .nt = 3,
       .spatialInterpolation = ns1__SpatialInterpolation__Lag4, .points = &points);
  CALL(GetPositionParticleControl, Point3, 3, COMMON, .StartTime = 0.1f, .EndTime = 0.3f,
       .spatialInterpolation = ns1__SpatialInterpolation__Lag4, .points = &points);
  CALL(NullOp, Vector3, 3, .authToken = "a", .points = &points);
  puts("}");
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return 0;
}
