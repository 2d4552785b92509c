/* Made by obvia-idl 0.1.0 from ocidl.idl. Change the IDL, not this. */
#ifndef OBVIA_IDL_OCIDL_H
#define OBVIA_IDL_OCIDL_H

#include "obvia.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct IConnectionPointContainer IConnectionPointContainer;
typedef struct IConnectionPoint IConnectionPoint;
typedef struct IEnumConnections IEnumConnections;
typedef struct IEnumConnectionPoints IEnumConnectionPoints;

typedef struct CONNECTDATA CONNECTDATA;

struct CONNECTDATA {
    IUnknown *pUnk;
    uint32_t dwCookie;
};
OBVIA_HAS_SIZE(CONNECTDATA, 16);
OBVIA_LIES_AT(CONNECTDATA, pUnk, 0);
OBVIA_LIES_AT(CONNECTDATA, dwCookie, 8);

/* Structures with everything that they lead to: _free() frees what a method returned, each structure as a part of one
 * allocation; _clear() frees what structures lead to that are elsewhere, and zeroes them; _copy() makes what a method
 * returns. NULL is no structure. */
void CONNECTDATA_free(CONNECTDATA *first, size_t count);
void CONNECTDATA_clear(CONNECTDATA *first, size_t count);
HRESULT CONNECTDATA_copy(const CONNECTDATA *first, size_t count, CONNECTDATA **copy);
#ifdef __cplusplus
extern "C++" {
    template <> struct obvia_structure_of<CONNECTDATA> {
        static void free(::CONNECTDATA *first, size_t count) noexcept { CONNECTDATA_free(first, count); }
        static void clear(::CONNECTDATA *first, size_t count) noexcept { CONNECTDATA_clear(first, count); }
        static HRESULT copy(const ::CONNECTDATA *first, size_t count, ::CONNECTDATA **copy) noexcept
        {
            return CONNECTDATA_copy(first, count, copy);
        }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
/* An object that tells of events: it has a connection point for each interface that it calls. */
struct IConnectionPointContainer : IUnknown {
    /* All of its connection points. */
    virtual HRESULT EnumConnectionPoints(IEnumConnectionPoints **ppEnum) = 0;
    /* The one for an interface; CONNECT_E_NOCONNECTION where there is none. */
    virtual HRESULT FindConnectionPoint(const GUID *riid, IConnectionPoint **ppCP) = 0;
};
#else
/* An object that tells of events: it has a connection point for each interface that it calls. */
typedef struct IConnectionPointContainerVtbl {
    HRESULT (*QueryInterface)(IConnectionPointContainer *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IConnectionPointContainer *self);
    uint32_t (*Release)(IConnectionPointContainer *self);
    /* All of its connection points. */
    HRESULT (*EnumConnectionPoints)(IConnectionPointContainer *self, IEnumConnectionPoints **ppEnum);
    /* The one for an interface; CONNECT_E_NOCONNECTION where there is none. */
    HRESULT (*FindConnectionPoint)(IConnectionPointContainer *self, const GUID *riid, IConnectionPoint **ppCP);
} IConnectionPointContainerVtbl;
struct IConnectionPointContainer {
    const IConnectionPointContainerVtbl *lpVtbl;
};
#define IConnectionPointContainer_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IConnectionPointContainer_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IConnectionPointContainer_Release(self) ((self)->lpVtbl->Release)((self))
#define IConnectionPointContainer_EnumConnectionPoints(self, ppEnum) ((self)->lpVtbl->EnumConnectionPoints)((self), (ppEnum))
#define IConnectionPointContainer_FindConnectionPoint(self, riid, ppCP) ((self)->lpVtbl->FindConnectionPoint)((self), (riid), (ppCP))
#endif
extern const IID IID_IConnectionPointContainer;
extern const obvia_interface IConnectionPointContainer_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IConnectionPointContainer> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IConnectionPointContainer; }
        static const obvia_interface *info() noexcept { return &IConnectionPointContainer_INFO; }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
/* Where sinks for one interface's events are made known. */
struct IConnectionPoint : IUnknown {
    /* The interface that sinks have. */
    virtual HRESULT GetConnectionInterface(GUID *pIID) = 0;
    /* The object that this is a connection point of. */
    virtual HRESULT GetConnectionPointContainer(IConnectionPointContainer **ppCPC) = 0;
    /* Connects a sink: it is called from now on. CONNECT_E_CANNOTCONNECT where it lacks the interface, CONNECT_E_ADVISELIMIT where there are
     * too many.
     */
    virtual HRESULT Advise(IUnknown *pUnkSink, uint32_t *pdwCookie) = 0;
    /* Ends a connection; CONNECT_E_NOCONNECTION where there is none by that number. */
    virtual HRESULT Unadvise(uint32_t dwCookie) = 0;
    /* The connections that there are. */
    virtual HRESULT EnumConnections(IEnumConnections **ppEnum) = 0;
};
#else
/* Where sinks for one interface's events are made known. */
typedef struct IConnectionPointVtbl {
    HRESULT (*QueryInterface)(IConnectionPoint *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IConnectionPoint *self);
    uint32_t (*Release)(IConnectionPoint *self);
    /* The interface that sinks have. */
    HRESULT (*GetConnectionInterface)(IConnectionPoint *self, GUID *pIID);
    /* The object that this is a connection point of. */
    HRESULT (*GetConnectionPointContainer)(IConnectionPoint *self, IConnectionPointContainer **ppCPC);
    /* Connects a sink: it is called from now on. CONNECT_E_CANNOTCONNECT where it lacks the interface, CONNECT_E_ADVISELIMIT where there are
     * too many.
     */
    HRESULT (*Advise)(IConnectionPoint *self, IUnknown *pUnkSink, uint32_t *pdwCookie);
    /* Ends a connection; CONNECT_E_NOCONNECTION where there is none by that number. */
    HRESULT (*Unadvise)(IConnectionPoint *self, uint32_t dwCookie);
    /* The connections that there are. */
    HRESULT (*EnumConnections)(IConnectionPoint *self, IEnumConnections **ppEnum);
} IConnectionPointVtbl;
struct IConnectionPoint {
    const IConnectionPointVtbl *lpVtbl;
};
#define IConnectionPoint_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IConnectionPoint_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IConnectionPoint_Release(self) ((self)->lpVtbl->Release)((self))
#define IConnectionPoint_GetConnectionInterface(self, pIID) ((self)->lpVtbl->GetConnectionInterface)((self), (pIID))
#define IConnectionPoint_GetConnectionPointContainer(self, ppCPC) ((self)->lpVtbl->GetConnectionPointContainer)((self), (ppCPC))
#define IConnectionPoint_Advise(self, pUnkSink, pdwCookie) ((self)->lpVtbl->Advise)((self), (pUnkSink), (pdwCookie))
#define IConnectionPoint_Unadvise(self, dwCookie) ((self)->lpVtbl->Unadvise)((self), (dwCookie))
#define IConnectionPoint_EnumConnections(self, ppEnum) ((self)->lpVtbl->EnumConnections)((self), (ppEnum))
#endif
extern const IID IID_IConnectionPoint;
extern const obvia_interface IConnectionPoint_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IConnectionPoint> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IConnectionPoint; }
        static const obvia_interface *info() noexcept { return &IConnectionPoint_INFO; }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
/* Connections, one after the other. */
struct IEnumConnections : IUnknown {
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    virtual HRESULT Next(uint32_t cConnections, CONNECTDATA *rgcd, uint32_t *pcFetched) = 0;
    /* Leaves so many out. */
    virtual HRESULT Skip(uint32_t cConnections) = 0;
    /* Begins anew. */
    virtual HRESULT Reset() = 0;
    /* Another that goes on at the same place. */
    virtual HRESULT Clone(IEnumConnections **ppEnum) = 0;
};
#else
/* Connections, one after the other. */
typedef struct IEnumConnectionsVtbl {
    HRESULT (*QueryInterface)(IEnumConnections *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IEnumConnections *self);
    uint32_t (*Release)(IEnumConnections *self);
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    HRESULT (*Next)(IEnumConnections *self, uint32_t cConnections, CONNECTDATA *rgcd, uint32_t *pcFetched);
    /* Leaves so many out. */
    HRESULT (*Skip)(IEnumConnections *self, uint32_t cConnections);
    /* Begins anew. */
    HRESULT (*Reset)(IEnumConnections *self);
    /* Another that goes on at the same place. */
    HRESULT (*Clone)(IEnumConnections *self, IEnumConnections **ppEnum);
} IEnumConnectionsVtbl;
struct IEnumConnections {
    const IEnumConnectionsVtbl *lpVtbl;
};
#define IEnumConnections_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IEnumConnections_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IEnumConnections_Release(self) ((self)->lpVtbl->Release)((self))
#define IEnumConnections_Next(self, cConnections, rgcd, pcFetched) ((self)->lpVtbl->Next)((self), (cConnections), (rgcd), (pcFetched))
#define IEnumConnections_Skip(self, cConnections) ((self)->lpVtbl->Skip)((self), (cConnections))
#define IEnumConnections_Reset(self) ((self)->lpVtbl->Reset)((self))
#define IEnumConnections_Clone(self, ppEnum) ((self)->lpVtbl->Clone)((self), (ppEnum))
#endif
extern const IID IID_IEnumConnections;
extern const obvia_interface IEnumConnections_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IEnumConnections> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IEnumConnections; }
        static const obvia_interface *info() noexcept { return &IEnumConnections_INFO; }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
/* Connection points, one after the other. */
struct IEnumConnectionPoints : IUnknown {
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    virtual HRESULT Next(uint32_t cConnections, IConnectionPoint **ppCP, uint32_t *pcFetched) = 0;
    /* Leaves so many out. */
    virtual HRESULT Skip(uint32_t cConnections) = 0;
    /* Begins anew. */
    virtual HRESULT Reset() = 0;
    /* Another that goes on at the same place. */
    virtual HRESULT Clone(IEnumConnectionPoints **ppEnum) = 0;
};
#else
/* Connection points, one after the other. */
typedef struct IEnumConnectionPointsVtbl {
    HRESULT (*QueryInterface)(IEnumConnectionPoints *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IEnumConnectionPoints *self);
    uint32_t (*Release)(IEnumConnectionPoints *self);
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    HRESULT (*Next)(IEnumConnectionPoints *self, uint32_t cConnections, IConnectionPoint **ppCP, uint32_t *pcFetched);
    /* Leaves so many out. */
    HRESULT (*Skip)(IEnumConnectionPoints *self, uint32_t cConnections);
    /* Begins anew. */
    HRESULT (*Reset)(IEnumConnectionPoints *self);
    /* Another that goes on at the same place. */
    HRESULT (*Clone)(IEnumConnectionPoints *self, IEnumConnectionPoints **ppEnum);
} IEnumConnectionPointsVtbl;
struct IEnumConnectionPoints {
    const IEnumConnectionPointsVtbl *lpVtbl;
};
#define IEnumConnectionPoints_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IEnumConnectionPoints_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IEnumConnectionPoints_Release(self) ((self)->lpVtbl->Release)((self))
#define IEnumConnectionPoints_Next(self, cConnections, ppCP, pcFetched) ((self)->lpVtbl->Next)((self), (cConnections), (ppCP), (pcFetched))
#define IEnumConnectionPoints_Skip(self, cConnections) ((self)->lpVtbl->Skip)((self), (cConnections))
#define IEnumConnectionPoints_Reset(self) ((self)->lpVtbl->Reset)((self))
#define IEnumConnectionPoints_Clone(self, ppEnum) ((self)->lpVtbl->Clone)((self), (ppEnum))
#endif
extern const IID IID_IEnumConnectionPoints;
extern const obvia_interface IEnumConnectionPoints_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IEnumConnectionPoints> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IEnumConnectionPoints; }
        static const obvia_interface *info() noexcept { return &IEnumConnectionPoints_INFO; }
    };
}
#endif

#ifdef __cplusplus
}
#endif

#endif
