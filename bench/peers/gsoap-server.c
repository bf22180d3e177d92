/* NullOp as a gSOAP server: generated code, a thread per connection, keep-alive; the argument is an I/O mode. Prints its port. */
#include <pthread.h>
#include "soapH.h"
#include "TurbulenceServiceSoap.nsmap"

int __ns1__NullOp(struct soap *soap, struct _ns1__NullOp *in, struct _ns1__NullOpResponse *out) {
  int count = in->points ? in->points->__sizePoint3 : 0;
  struct ns1__ArrayOfVector3 *result = soap_malloc(soap, sizeof *result);
  result->__sizeVector3 = count;
  result->Vector3 = soap_malloc(soap, count * sizeof(struct ns1__Vector3));
  for (int i = 0; i < count; i++) {
    struct ns1__Point3 *p = &in->points->Point3[i];
    result->Vector3[i] = (struct ns1__Vector3){p->x, p->y, p->z};
  }
  out->NullOpResult = result;
  return SOAP_OK;
}

#define UNUSED(op)                                                                                        \
  int __ns1__##op(struct soap *soap, struct _ns1__##op *in, struct _ns1__##op##Response *out) {           \
    return soap_sender_fault(soap, "not offered", NULL);                                                  \
  }
#define UNUSED_BINDING(op)                                                                                \
  int __ns1__##op##_(struct soap *soap, struct _ns1__##op *in, struct _ns1__##op##Response *out) {        \
    return __ns1__##op(soap, in, out);                                                                    \
  }
#define EACH(M)                                                                                           \
  M(GetVelocity) M(GetForce) M(GetVelocityAndPressure) M(GetVelocityGradient) M(GetPressureGradient)      \
  M(GetPressureHessian) M(GetVelocityHessian) M(GetVelocityLaplacian) M(GetBoxFilterVelocity)             \
  M(GetBoxFilterPressure) M(GetBoxFilterVelocityGradient) M(GetBoxFilterSGSStress)                        \
  M(GetPositionInertialParticle) M(GetPosition) M(GetPositionParticleControl)
EACH(UNUSED)
EACH(UNUSED_BINDING)
UNUSED_BINDING(NullOp)

static void *serve(void *connection) {
  struct soap *soap = connection;
  pthread_detach(pthread_self());
  soap_serve(soap);
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return NULL;
}

int main(int argc, char **argv) {
  struct soap *soap = soap_new1(SOAP_IO_KEEPALIVE | (argc > 1 ? atoi(argv[1]) & SOAP_IO : 0));
  soap->bind_flags = SO_REUSEADDR;
  soap->max_keep_alive = 0;
  soap->maxoccurs = 10000000;
  if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", 0, 100))) return 1;
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  getsockname(soap->master, (struct sockaddr *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  while (soap_valid_socket(soap_accept(soap))) {
    pthread_t thread;
    pthread_create(&thread, NULL, serve, soap_copy(soap));
  }
  return 0;
}
