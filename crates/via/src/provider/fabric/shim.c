/* Plain functions that call libfabric's inline functions. Only this file and ffi.rs define the
 * layout of their types.
 *
 * The only decisions here are the flags of each call. Handles are opaque to Rust; numbers have
 * fixed widths. ob_load must be called first. Every other function that can fail returns 0 or a
 * positive count, or a negative error number of libfabric.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define VERSION FI_VERSION(1, 17)
#define MR_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define EVENT_DATA 512

/* The layout must equal ffi::Capabilities. */
struct ob_capabilities {
	uint64_t max_message;
	uint32_t segments, send_depth, receive_depth, data_bytes;
	uint8_t local, virtual_address, provider_keys, automatic, send_after_write, consumes, unsupported, is_msg;
};

/* The layout must equal ffi::Event. */
struct ob_event {
	struct fi_info *info;
	uint32_t kind, error, length;
	uint8_t data[EVENT_DATA];
};

/* The layout must equal ffi::Done. */
struct ob_done {
	void *context;
	uint64_t data, length;
	uint32_t error;
	uint8_t has_data, is_remote_write, is_receive, is_error;
};

enum { EVENT_OTHER, EVENT_REQUEST, EVENT_CONNECTED, EVENT_SHUTDOWN, EVENT_ERROR };

/* libfabric's functions that are not inline. The library is loaded at its first use, because it
 * loads libraries of adapters that slow down a program's start and take over its signals.
 *
 * dlsym finds the newest version of each function. All versions have the same signature; later
 * structures only add fields at the end, and the library allocates them. */
static struct {
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
		       struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	const char *(*strerror)(int number);
	/* The reason why loading failed; empty if it succeeded. */
	char missing[256];
} libfabric;

static void find(void *library, const char *name, void *function)
{
	/* ISO C cannot cast an object pointer to a function pointer; POSIX gives this form instead. */
	*(void **)function = library ? dlsym(library, name) : NULL;
	if (!*(void **)function && !libfabric.missing[0]) {
		const char *why = dlerror();
		snprintf(libfabric.missing, sizeof(libfabric.missing), "%s", why ? why : name);
	}
}

#define SIGNALS 32

static void keep_signals(struct sigaction *before)
{
	int number;

	for (number = 1; number < SIGNALS; number++)
		sigaction(number, NULL, &before[number]);
}

/* Restores the signals that libraries of adapters have taken over: libpsm_infinipath handles
 * SIGSEGV, SIGTERM and others. Handlers of the program stay, even handlers that the program has
 * installed while the libraries were loaded. */
static void give_signals_back(const struct sigaction *before)
{
	struct sigaction now;
	Dl_info place;
	int number;

	for (number = 1; number < SIGNALS; number++) {
		void *handler;

		if (sigaction(number, NULL, &now) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN ||
		    now.sa_handler == before[number].sa_handler)
			continue;
		*(void (**)(int))&handler = now.sa_handler;
		if (dladdr(handler, &place) && place.dli_fname &&
		    (strstr(place.dli_fname, "infinipath") || strstr(place.dli_fname, "psm")))
			sigaction(number, &before[number], NULL);
	}
}

static void load(void)
{
	struct sigaction before[SIGNALS];
	void *library;

	keep_signals(before);
	library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
	find(library, "fi_getinfo", &libfabric.getinfo);
	find(library, "fi_freeinfo", &libfabric.freeinfo);
	find(library, "fi_dupinfo", &libfabric.dupinfo);
	find(library, "fi_fabric", &libfabric.fabric);
	find(library, "fi_strerror", &libfabric.strerror);
	give_signals_back(before);
}

/* Loads libfabric once. Returns NULL, or a static text with the reason of the failure. */
const char *ob_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return libfabric.missing[0] ? libfabric.missing : NULL;
}

/* The size of libfabric's own state of an operation, in bytes. */
const size_t ob_context_size = sizeof(struct fi_context2);

int ob_info(const char *provider, const char *domain, const char *node, const char *service, uint8_t is_msg,
	    uint8_t is_source, uint8_t ordered, uint8_t delivered, struct fi_info **info)
{
	/* Equivalent to the header's fi_allocinfo(). */
	struct fi_info *hints = libfabric.dupinfo(NULL);
	uint64_t order = FI_ORDER_SAS | (ordered ? FI_ORDER_SAW : 0);
	struct sigaction before[SIGNALS];
	int result = -FI_ENOMEM;

	*info = NULL;
	if (!hints)
		return result;
	hints->caps = FI_MSG | FI_RMA;
	/* shm checks keys only if an order of writes and sends is requested. */
	hints->tx_attr->msg_order = order;
	hints->rx_attr->msg_order = order;
	hints->tx_attr->op_flags = delivered ? FI_DELIVERY_COMPLETE : 0;
	hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	hints->ep_attr->type = is_msg ? FI_EP_MSG : FI_EP_RDM;
	hints->domain_attr->mr_mode = MR_MODES;
	hints->domain_attr->threading = FI_THREAD_SAFE;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	if (provider)
		hints->fabric_attr->prov_name = strdup(provider);
	if (domain)
		hints->domain_attr->name = strdup(domain);
	if ((!provider || hints->fabric_attr->prov_name) && (!domain || hints->domain_attr->name)) {
		/* The first call may load libraries of adapters, which take over signals. */
		keep_signals(before);
		result = libfabric.getinfo(VERSION, node, service, node && is_source ? FI_SOURCE : 0, hints, info);
		give_signals_back(before);
	}
	/* The requested flags only tested the provider's support; each operation sets its own flags. */
	if (!result)
		(*info)->tx_attr->op_flags = 0;
	libfabric.freeinfo(hints);
	return result;
}

void ob_info_free(struct fi_info *info)
{
	libfabric.freeinfo(info);
}

void ob_info_capabilities(const struct fi_info *info, struct ob_capabilities *out)
{
	uint64_t modes = info->domain_attr->mr_mode;
	size_t segments = info->tx_attr->iov_limit;

	memset(out, 0, sizeof(*out));
	if (segments > info->rx_attr->iov_limit)
		segments = info->rx_attr->iov_limit;
	out->max_message = info->ep_attr->max_msg_size;
	out->segments = (uint32_t)segments;
	out->send_depth = (uint32_t)info->tx_attr->size;
	out->receive_depth = (uint32_t)info->rx_attr->size;
	out->data_bytes = (uint32_t)info->domain_attr->cq_data_size;
	out->local = !!(modes & FI_MR_LOCAL);
	out->virtual_address = !!(modes & FI_MR_VIRT_ADDR);
	out->provider_keys = !!(modes & FI_MR_PROV_KEY);
	out->automatic = info->domain_attr->data_progress == FI_PROGRESS_AUTO;
	out->send_after_write = !!(info->tx_attr->msg_order & info->rx_attr->msg_order & FI_ORDER_SAW);
	out->consumes = !!((info->mode | info->rx_attr->mode) & FI_RX_CQ_DATA);
	out->unsupported = !!(modes & ~(uint64_t)MR_MODES & ~(uint64_t)3);
	out->is_msg = info->ep_attr->type == FI_EP_MSG;
}

/* Returns the provider's name, which lives as long as the info. */
const char *ob_info_provider(const struct fi_info *info)
{
	return info->fabric_attr->prov_name ? info->fabric_attr->prov_name : "";
}

/* Writes the peer's address in a connection request, as text; empty when it is no IP address. */
void ob_info_peer(const struct fi_info *info, char *text, size_t room)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	int is_six = info->addr_format == FI_SOCKADDR_IN6 || (info->addr_format == FI_SOCKADDR && info->dest_addr &&
		     ((struct sockaddr *)info->dest_addr)->sa_family == AF_INET6);

	text[0] = 0;
	if (info->addr_format != FI_SOCKADDR && info->addr_format != FI_SOCKADDR_IN && info->addr_format != FI_SOCKADDR_IN6)
		return;
	if (info->dest_addr && !getnameinfo(info->dest_addr, (socklen_t)info->dest_addrlen, host, sizeof(host), port,
					    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, room, is_six ? "[%s]:%s" : "%s:%s", host, port);
}

/* Writes a socket address returned by ob_name, as text; empty when it is no IP address. */
void ob_address(const void *name, size_t length, char *text, size_t room)
{
	struct sockaddr_storage found;
	char host[NI_MAXHOST], port[NI_MAXSERV];

	text[0] = 0;
	memset(&found, 0, sizeof(found));
	memcpy(&found, name, length < sizeof(found) ? length : sizeof(found));
	if (found.ss_family != AF_INET && found.ss_family != AF_INET6)
		return;
	if (!getnameinfo((struct sockaddr *)&found,
			 found.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6), host,
			 sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, room, found.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Returns the port of a socket address returned by ob_name, or 0. */
uint16_t ob_port(const void *name, size_t length)
{
	struct sockaddr_storage found;

	memset(&found, 0, sizeof(found));
	memcpy(&found, name, length < sizeof(found) ? length : sizeof(found));
	if (found.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&found)->sin_port);
	return found.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&found)->sin6_port) : 0;
}

int ob_fabric(struct fi_info *info, struct fid_fabric **fabric)
{
	return libfabric.fabric(info->fabric_attr, fabric, NULL);
}

int ob_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain)
{
	return fi_domain(fabric, info, domain, NULL);
}

int ob_eq(struct fid_fabric *fabric, struct fid_eq **eq, int *fd)
{
	struct fi_eq_attr attributes = { .size = 64, .wait_obj = FI_WAIT_FD };
	int result = fi_eq_open(fabric, &attributes, eq, NULL);

	*fd = -1;
	if (!result && fi_control(&(*eq)->fid, FI_GETWAIT, fd))
		*fd = -1;
	return result;
}

int ob_cq(struct fid_domain *domain, size_t size, struct fid_cq **cq, int *fd)
{
	struct fi_cq_attr attributes = { .size = size, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	int result = fi_cq_open(domain, &attributes, cq, NULL);

	*fd = -1;
	if (!result) {
		if (fi_control(&(*cq)->fid, FI_GETWAIT, fd))
			*fd = -1;
		return 0;
	}
	attributes.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(domain, &attributes, cq, NULL);
}

int ob_passive(struct fid_fabric *fabric, struct fi_info *info, struct fid_eq *eq, struct fid_pep **pep)
{
	int result = fi_passive_ep(fabric, info, pep, NULL);

	if (result)
		return result;
	result = fi_pep_bind(*pep, &eq->fid, 0);
	if (!result)
		result = fi_listen(*pep);
	if (result)
		fi_close(&(*pep)->fid);
	return result;
}

int ob_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_eq *eq, struct fid_cq *cq, struct fid_av *av,
		struct fid_ep **ep)
{
	int result = fi_endpoint(domain, info, ep, NULL);

	if (result)
		return result;
	result = fi_ep_bind(*ep, &cq->fid, FI_TRANSMIT | FI_RECV);
	if (!result && eq)
		result = fi_ep_bind(*ep, &eq->fid, 0);
	if (!result && av)
		result = fi_ep_bind(*ep, &av->fid, 0);
	if (!result)
		result = fi_enable(*ep);
	if (result)
		fi_close(&(*ep)->fid);
	return result;
}

int ob_name(struct fid *endpoint, void *name, size_t *length)
{
	return fi_getname(endpoint, name, length);
}

int ob_connect(struct fid_ep *ep, const struct fi_info *info, const void *data, size_t length)
{
	return fi_connect(ep, info->dest_addr, data, length);
}

int ob_accept(struct fid_ep *ep, const void *data, size_t length)
{
	return fi_accept(ep, data, length);
}

int ob_reject(struct fid_pep *pep, const struct fi_info *info, const void *data, size_t length)
{
	return fi_reject(pep, info->handle, data, length);
}

int ob_shutdown(struct fid_ep *ep)
{
	return fi_shutdown(ep, 0);
}

/* Returns the maximum number of bytes in a connection request; 0 if the provider does not say. */
size_t ob_connection_data(struct fid *endpoint)
{
	size_t most = 0, length = sizeof(most);

	return fi_getopt(endpoint, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &most, &length) ? 0 : most;
}

int ob_av(struct fid_domain *domain, struct fid_av **av)
{
	struct fi_av_attr attributes = { .type = FI_AV_UNSPEC, .count = 1 };

	return fi_av_open(domain, &attributes, av, NULL);
}

int ob_av_insert(struct fid_av *av, const void *name, uint64_t *address)
{
	fi_addr_t found = FI_ADDR_NOTAVAIL;
	int count = fi_av_insert(av, name, 1, &found, 0, NULL);

	*address = found;
	return count == 1 ? 0 : count < 0 ? count : -FI_EINVAL;
}

int ob_register(struct fid_domain *domain, const void *start, size_t length, uint8_t write, uint8_t read, uint64_t key,
		struct fid_mr **mr, uint64_t *found, void **descriptor)
{
	uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | (write ? FI_REMOTE_WRITE : 0) |
			  (read ? FI_REMOTE_READ : 0);
	int result = fi_mr_reg(domain, start, length, access, 0, key, 0, mr, NULL);

	if (!result) {
		*found = fi_mr_key(*mr);
		*descriptor = fi_mr_desc(*mr);
	}
	return result;
}

int ob_receive(struct fid_ep *ep, const struct iovec *segments, void **descriptors, size_t count, uint64_t from, void *context)
{
	return (int)fi_recvv(ep, segments, descriptors, count, from, context);
}

int ob_cancel(struct fid_ep *ep, void *context)
{
	return (int)fi_cancel(&ep->fid, context);
}

int ob_send(struct fid_ep *ep, const struct iovec *segments, void **descriptors, size_t count, uint64_t to, uint64_t data,
	    uint8_t has_data, uint8_t delivered, void *context)
{
	struct fi_msg message = {
		.msg_iov = segments, .desc = descriptors, .iov_count = count, .addr = to, .context = context, .data = data,
	};

	return (int)fi_sendmsg(ep, &message, FI_COMPLETION | (has_data ? FI_REMOTE_CQ_DATA : 0) |
					     (delivered ? FI_DELIVERY_COMPLETE : 0));
}

static struct fi_msg_rma rma(const struct iovec *segments, void **descriptors, size_t count, uint64_t to, uint64_t data,
			     const struct fi_rma_iov *place, void *context)
{
	struct fi_msg_rma message = {
		.msg_iov = segments, .desc = descriptors, .iov_count = count, .addr = to, .rma_iov = place,
		.rma_iov_count = 1, .context = context, .data = data,
	};

	return message;
}

int ob_write(struct fid_ep *ep, const struct iovec *segments, void **descriptors, size_t count, uint64_t to, uint64_t address,
	     uint64_t length, uint64_t key, uint64_t data, uint8_t has_data, uint8_t delivered, void *context)
{
	struct fi_rma_iov place = { .addr = address, .len = length, .key = key };
	struct fi_msg_rma message = rma(segments, descriptors, count, to, data, &place, context);

	return (int)fi_writemsg(ep, &message, FI_COMPLETION | (has_data ? FI_REMOTE_CQ_DATA : 0) |
					       (delivered ? FI_DELIVERY_COMPLETE : 0));
}

int ob_read(struct fid_ep *ep, const struct iovec *segments, void **descriptors, size_t count, uint64_t from, uint64_t address,
	    uint64_t length, uint64_t key, void *context)
{
	struct fi_rma_iov place = { .addr = address, .len = length, .key = key };
	struct fi_msg_rma message = rma(segments, descriptors, count, from, 0, &place, context);

	return (int)fi_readmsg(ep, &message, FI_COMPLETION);
}

static void flags(struct ob_done *done, uint64_t flags)
{
	done->has_data = !!(flags & FI_REMOTE_CQ_DATA);
	done->is_remote_write = !!(flags & FI_REMOTE_WRITE);
	done->is_receive = !!(flags & FI_RECV);
}

/* Reads one completion. Returns 1 if there was one, even if its operation failed. */
int ob_done(struct fid_cq *cq, struct ob_done *done)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry failed;
	ssize_t count = fi_cq_read(cq, &entry, 1);

	memset(done, 0, sizeof(*done));
	if (count == 1) {
		done->context = entry.op_context;
		done->data = entry.data;
		done->length = entry.len;
		flags(done, entry.flags);
		return 1;
	}
	if (count == -FI_EAGAIN || count == 0)
		return 0;
	if (count != -FI_EAVAIL)
		return (int)count;
	memset(&failed, 0, sizeof(failed));
	count = fi_cq_readerr(cq, &failed, 0);
	if (count != 1)
		return count == -FI_EAGAIN || count == 0 ? 0 : (int)count;
	done->context = failed.op_context;
	done->data = failed.data;
	done->length = failed.len;
	done->error = (uint32_t)abs(failed.err);
	done->is_error = 1;
	flags(done, failed.flags);
	return 1;
}

static int failed_event(struct fid_eq *eq, struct ob_event *event)
{
	struct fi_eq_err_entry failed;
	ssize_t count;

	memset(&failed, 0, sizeof(failed));
	failed.err_data = event->data;
	failed.err_data_size = sizeof(event->data);
	count = fi_eq_readerr(eq, &failed, 0);
	if (count < 0)
		return count == -FI_EAGAIN ? 0 : (int)count;
	event->kind = EVENT_ERROR;
	event->error = (uint32_t)abs(failed.err);
	/* The provider may have set err_data to data of its own, which live until the next read. */
	if (failed.err_data && failed.err_data_size && failed.err_data_size <= sizeof(event->data)) {
		event->length = (uint32_t)failed.err_data_size;
		if (failed.err_data != event->data)
			memcpy(event->data, failed.err_data, failed.err_data_size);
	}
	return 1;
}

/* Reads one event. Returns 1 if there was one. The event of a connection request has an info,
 * which the caller then owns. */
int ob_event(struct fid_eq *eq, struct ob_event *event)
{
	union {
		struct fi_eq_cm_entry entry;
		uint8_t bytes[sizeof(struct fi_eq_cm_entry) + EVENT_DATA];
	} found;
	uint32_t kind = 0;
	ssize_t count;

	memset(event, 0, sizeof(*event));
	memset(&found.entry, 0, sizeof(found.entry));
	count = fi_eq_read(eq, &kind, &found, sizeof(found), 0);
	if (count == -FI_EAVAIL)
		return failed_event(eq, event);
	if (count < 0)
		return count == -FI_EAGAIN ? 0 : (int)count;
	if ((size_t)count > sizeof(struct fi_eq_cm_entry)) {
		event->length = (uint32_t)((size_t)count - sizeof(struct fi_eq_cm_entry));
		memcpy(event->data, found.entry.data, event->length);
	}
	event->kind = kind == FI_CONNREQ ? EVENT_REQUEST :
		      kind == FI_CONNECTED ? EVENT_CONNECTED :
		      kind == FI_SHUTDOWN ? EVENT_SHUTDOWN : EVENT_OTHER;
	if (kind == FI_CONNREQ)
		event->info = found.entry.info;
	return 1;
}

/* Returns 0 if a thread may sleep on the files of these objects, or -FI_EAGAIN when an
 * event or a completion is waiting. */
int ob_may_sleep(struct fid_fabric *fabric, struct fid *first, struct fid *second)
{
	struct fid *both[2] = { first, second };

	return fi_trywait(fabric, both, second ? 2 : 1);
}

int ob_close(struct fid *handle)
{
	return fi_close(handle);
}

const char *ob_error(int number)
{
	return libfabric.strerror(number);
}

/* The error numbers that callers tell apart. */
const uint32_t ob_error_again = FI_EAGAIN, ob_error_truncated = FI_ETRUNC, ob_error_no_data = FI_ENODATA;
