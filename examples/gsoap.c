/* GetVelocity with gSOAP (Debian: gsoap, libgsoap-dev), which writes its files beside this one:
   wsdl2h -c -o service.h "http://127.0.0.1:8080/service/turbulence.asmx?wsdl"
   soapcpp2 -c -C -x -L service.h && gcc gsoap.c soapC.c soapClient.c -lgsoap && ./a.out
   For the public service, change only URL, the token and the name of the dataset. */
#include "TurbulenceServiceSoap.nsmap"
#include "soapH.h"

#define URL "http://127.0.0.1:8080/service/turbulence.asmx"

int main(int argc, char **argv) {
  struct soap *soap = soap_new1(SOAP_C_UTFSTRING);
  struct ns1__Point3 point = {1, 2, 3};
  struct ns1__ArrayOfPoint3 points = {1, &point};
  struct _ns1__GetVelocity request = {"my-token", "isotropic32", 0.1f, ns1__SpatialInterpolation__Lag8,
                                      ns1__TemporalInterpolation__PCHIP, &points};
  struct _ns1__GetVelocityResponse response;
  if (soap_call___ns1__GetVelocity(soap, argc > 1 ? argv[1] : URL, NULL, &request, &response) != SOAP_OK) {
    soap_print_fault(soap, stderr);
    return 1;
  }
  for (int i = 0; i < response.GetVelocityResult->__sizeVector3; i++) {
    struct ns1__Vector3 *v = &response.GetVelocityResult->Vector3[i];
    printf("%.9g %.9g %.9g\n", v->x, v->y, v->z);
  }
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return 0;
}
