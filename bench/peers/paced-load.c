/*
 * Asks an HTTP server on loopback at equal intervals and tells how long its answers took from the moments at which the
 * requests were due.
 *
 *   paced-load PORT RATE COUNT CONNECTIONS < request
 *
 * RATE requests a second, each on the connection that has been free for longest, or on the next that becomes free: it
 * counts from the moment when it was due. With RATE 0 every connection asks again as soon as it is answered. The program
 * sleeps in between, so that the server may use its core; a request that leaves late because it woke late counts from the
 * moment when it leaves. Prints in milliseconds the median of the answers' times, their 99th percentile in the median of
 * windows of a thousand requests, and over all of them, and the 99th percentile of the times by which the program woke
 * late. A virtual machine takes its processors away for milliseconds, for more than a hundredth of the time where all of
 * them work: the windows say what the server does in between.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 1024, ANSWER_BYTES = 1 << 16, WINDOW = 1000 };

static const size_t CHUNKED = -1;

struct connection {
  int socket;
  double due;
  /* Bytes of the answer so far, and of the whole one; 0 while its head is not whole, CHUNKED where it is not told. */
  size_t got, whole;
  char answer[ANSWER_BYTES];
};

static struct connection all[MOST_CONNECTIONS];
/* Free connections, the one that has been free for longest first. */
static struct connection *idle[MOST_CONNECTIONS];
static int first_free, free_count;
static char request[ANSWER_BYTES];
static size_t request_bytes;

static struct connection *take_free(void) {
  struct connection *c = idle[first_free];
  first_free = (first_free + 1) % MOST_CONNECTIONS;
  free_count--;
  return c;
}

static void give_free(struct connection *c) { idle[(first_free + free_count++) % MOST_CONNECTIONS] = c; }

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * time.tv_sec + 1e-6 * time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(double *values, long count, double part) {
  qsort(values, count, sizeof *values, by_size);
  return values[(long)(part * (count - 1))];
}

/* The median of the 99th percentiles of windows, whose values it sorts. */
static double windows(double *values, long count) {
  const long whole = count / WINDOW;
  if (whole == 0) return quantile(values, count, 0.99);
  double *each = calloc(whole, sizeof *each);
  if (each == NULL) fail("calloc");
  for (long i = 0; i < whole; i++) each[i] = quantile(values + i * WINDOW, WINDOW, 0.99);
  const double median = quantile(each, whole, 0.5);
  free(each);
  return median;
}

static void open_connection(struct connection *c, int poll, int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  const int yes = 1;
  c->socket = socket(AF_INET, SOCK_STREAM, 0);
  if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&to, sizeof to) != 0) fail("connect");
  setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (epoll_ctl(poll, EPOLL_CTL_ADD, c->socket, &event) != 0) fail("epoll_ctl");
}

static void ask(struct connection *c, double due) {
  c->due = due;
  c->got = c->whole = 0;
  if (send(c->socket, request, request_bytes, 0) != (ssize_t)request_bytes) fail("send");
}

/* Reads what has come; whether the answer is whole. */
static int hear(struct connection *c) {
  const ssize_t bytes = recv(c->socket, c->answer + c->got, ANSWER_BYTES - 1 - c->got, MSG_DONTWAIT);
  if (bytes <= 0 && errno != EAGAIN) fail("recv");
  if (bytes <= 0) return 0;
  c->got += bytes;
  if (c->whole == 0) {
    c->answer[c->got] = 0;
    const char *end = strstr(c->answer, "\r\n\r\n");
    if (end == NULL) return 0;
    if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0) {
      fprintf(stderr, "answered with %.200s\n", c->answer);
      exit(1);
    }
    const char *length = strcasestr(c->answer, "\r\ncontent-length:");
    c->whole = length != NULL && length < end ? (size_t)(end + 4 - c->answer + atol(length + 17)) : CHUNKED;
  }
  if (c->whole == CHUNKED) return memcmp(c->answer + c->got - 5, "0\r\n\r\n", 5) == 0;
  return c->got >= c->whole;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const int port = atoi(argv[1]);
  const double rate = atof(argv[2]);
  const long count = atol(argv[3]);
  const int connections = atoi(argv[4]);
  if (connections < 1 || connections > MOST_CONNECTIONS || count < 1) return 2;
  request_bytes = fread(request, 1, sizeof request, stdin);
  const int poll = epoll_create1(0);
  prctl(PR_SET_TIMERSLACK, 1);
  for (int i = 0; i < connections; i++) {
    open_connection(&all[i], poll, port);
    give_free(&all[i]);
  }
  double *took = calloc(count, sizeof *took), *late = calloc(count, sizeof *late);
  if (took == NULL || late == NULL) fail("calloc");
  long asked = 0, answered = 0, on_time = 0;
  /* Requests that are due and wait for a connection are late by the server, not by this program. */
  int waited = 0;
  const double since = now();
  while (answered < count) {
    double at = now();
    while (asked < count && free_count > 0) {
      const double due = rate > 0 ? since + 1e3 * asked / rate : at;
      if (due > at) break;
      if (!waited && rate > 0) late[on_time++] = at - due;
      ask(take_free(), waited ? due : at);
      asked++;
      at = now();
    }
    waited = free_count == 0;
    struct epoll_event ready[64];
    const double wait = asked < count && free_count > 0 ? since + 1e3 * asked / rate - now() : 1e3;
    const struct timespec most = {.tv_sec = wait > 0 ? (long)(wait / 1e3) : 0, .tv_nsec = wait > 0 ? (long)(1e6 * fmod(wait, 1e3)) : 0};
    const int heard = epoll_pwait2(poll, ready, 64, &most, NULL);
    for (int i = 0; i < heard; i++) {
      struct connection *c = ready[i].data.ptr;
      if (!hear(c)) continue;
      took[answered++] = now() - c->due;
      give_free(c);
    }
  }
  const double seconds = (now() - since) / 1e3;
  const double window = windows(took, count);
  printf("{\"rate\":%.1f,\"p50\":%.4f,\"p99\":%.4f,\"all99\":%.4f,\"late\":%.4f}\n", count / seconds,
         quantile(took, count, 0.5), window, quantile(took, count, 0.99),
         on_time > 0 ? quantile(late, on_time, 0.99) : 0);
  return 0;
}
