/* Made by obvia-idl 0.1.0 from ocidl.idl. Change the IDL, not this. */
/*
 * What callers have: obvia::object<INTERFACE>, whose methods are those of INTERFACE_calls.
 * What objects have: the methods of INTERFACE_methods, by way of obvia::implementation<INTERFACE>.
 */
#ifndef OBVIA_IDL_OCIDL_VALUES_HPP
#define OBVIA_IDL_OCIDL_VALUES_HPP

#include "obvia_values.hpp"
#include "ocidl.h"

template <class obvia_holder> struct IConnectionPointContainer_calls;
struct IConnectionPointContainer_methods;
template <class Made_, class Raw_> struct IConnectionPointContainer_adapter;
template <class obvia_holder> struct IConnectionPoint_calls;
struct IConnectionPoint_methods;
template <class Made_, class Raw_> struct IConnectionPoint_adapter;
template <class obvia_holder> struct IEnumConnections_calls;
struct IEnumConnections_methods;
template <class Made_, class Raw_> struct IEnumConnections_adapter;
template <class obvia_holder> struct IEnumConnectionPoints_calls;
struct IEnumConnectionPoints_methods;
template <class Made_, class Raw_> struct IEnumConnectionPoints_adapter;

/* An object that tells of events: it has a connection point for each interface that it calls. */
template <class obvia_holder>
struct IConnectionPointContainer_calls : obvia::no_calls<obvia_holder> {
    /* All of its connection points. */
    obvia::object<IEnumConnectionPoints> EnumConnectionPoints() const;
    /* The one for an interface; CONNECT_E_NOCONNECTION where there is none. */
    obvia::object<IConnectionPoint> FindConnectionPoint(const GUID &riid) const;
};

/* An object that tells of events: it has a connection point for each interface that it calls. */
struct IConnectionPointContainer_methods : obvia::no_methods {
    /* All of its connection points. */
    virtual obvia::object<IEnumConnectionPoints> EnumConnectionPoints() = 0;
    /* The one for an interface; CONNECT_E_NOCONNECTION where there is none. */
    virtual obvia::object<IConnectionPoint> FindConnectionPoint(const GUID &riid) = 0;
protected:
    ~IConnectionPointContainer_methods() = default;
};

template <> struct obvia_values_of<IConnectionPointContainer> {
    template <class obvia_holder> using calls = IConnectionPointContainer_calls<obvia_holder>;
    using methods = IConnectionPointContainer_methods;
    template <class Made_, class Raw_> using adapter = IConnectionPointContainer_adapter<Made_, Raw_>;
};

/* Where sinks for one interface's events are made known. */
template <class obvia_holder>
struct IConnectionPoint_calls : obvia::no_calls<obvia_holder> {
    /* The interface that sinks have. */
    GUID GetConnectionInterface() const;
    /* The object that this is a connection point of. */
    obvia::object<IConnectionPointContainer> GetConnectionPointContainer() const;
    /* Connects a sink: it is called from now on. CONNECT_E_CANNOTCONNECT where it lacks the interface, CONNECT_E_ADVISELIMIT where there are
     * too many.
     */
    uint32_t Advise(const obvia::object<IUnknown> &pUnkSink) const;
    /* Ends a connection; CONNECT_E_NOCONNECTION where there is none by that number. */
    void Unadvise(uint32_t dwCookie) const;
    /* The connections that there are. */
    obvia::object<IEnumConnections> EnumConnections() const;
};

/* Where sinks for one interface's events are made known. */
struct IConnectionPoint_methods : obvia::no_methods {
    /* The interface that sinks have. */
    virtual GUID GetConnectionInterface() = 0;
    /* The object that this is a connection point of. */
    virtual obvia::object<IConnectionPointContainer> GetConnectionPointContainer() = 0;
    /* Connects a sink: it is called from now on. CONNECT_E_CANNOTCONNECT where it lacks the interface, CONNECT_E_ADVISELIMIT where there are
     * too many.
     */
    virtual uint32_t Advise(const obvia::object<IUnknown> &pUnkSink) = 0;
    /* Ends a connection; CONNECT_E_NOCONNECTION where there is none by that number. */
    virtual void Unadvise(uint32_t dwCookie) = 0;
    /* The connections that there are. */
    virtual obvia::object<IEnumConnections> EnumConnections() = 0;
protected:
    ~IConnectionPoint_methods() = default;
};

template <> struct obvia_values_of<IConnectionPoint> {
    template <class obvia_holder> using calls = IConnectionPoint_calls<obvia_holder>;
    using methods = IConnectionPoint_methods;
    template <class Made_, class Raw_> using adapter = IConnectionPoint_adapter<Made_, Raw_>;
};

/* Connections, one after the other. */
template <class obvia_holder>
struct IEnumConnections_calls : obvia::no_calls<obvia_holder> {
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    uint32_t Next(uint32_t cConnections, obvia::span<obvia::filled<CONNECTDATA>> rgcd) const;
    /* Leaves so many out. */
    void Skip(uint32_t cConnections) const;
    /* Begins anew. */
    void Reset() const;
    /* Another that goes on at the same place. */
    obvia::object<IEnumConnections> Clone() const;
};

/* Connections, one after the other. */
struct IEnumConnections_methods : obvia::no_methods {
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    virtual uint32_t Next(uint32_t cConnections, obvia::span<obvia::filled<CONNECTDATA>> rgcd) = 0;
    /* Leaves so many out. */
    virtual void Skip(uint32_t cConnections) = 0;
    /* Begins anew. */
    virtual void Reset() = 0;
    /* Another that goes on at the same place. */
    virtual obvia::object<IEnumConnections> Clone() = 0;
protected:
    ~IEnumConnections_methods() = default;
};

template <> struct obvia_values_of<IEnumConnections> {
    template <class obvia_holder> using calls = IEnumConnections_calls<obvia_holder>;
    using methods = IEnumConnections_methods;
    template <class Made_, class Raw_> using adapter = IEnumConnections_adapter<Made_, Raw_>;
};

/* Connection points, one after the other. */
template <class obvia_holder>
struct IEnumConnectionPoints_calls : obvia::no_calls<obvia_holder> {
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    uint32_t Next(uint32_t cConnections, obvia::span<obvia::object<IConnectionPoint>> ppCP) const;
    /* Leaves so many out. */
    void Skip(uint32_t cConnections) const;
    /* Begins anew. */
    void Reset() const;
    /* Another that goes on at the same place. */
    obvia::object<IEnumConnectionPoints> Clone() const;
};

/* Connection points, one after the other. */
struct IEnumConnectionPoints_methods : obvia::no_methods {
    /* The next ones, as many as there is room for; S_FALSE when there are fewer. */
    virtual uint32_t Next(uint32_t cConnections, obvia::span<obvia::object<IConnectionPoint>> ppCP) = 0;
    /* Leaves so many out. */
    virtual void Skip(uint32_t cConnections) = 0;
    /* Begins anew. */
    virtual void Reset() = 0;
    /* Another that goes on at the same place. */
    virtual obvia::object<IEnumConnectionPoints> Clone() = 0;
protected:
    ~IEnumConnectionPoints_methods() = default;
};

template <> struct obvia_values_of<IEnumConnectionPoints> {
    template <class obvia_holder> using calls = IEnumConnectionPoints_calls<obvia_holder>;
    using methods = IEnumConnectionPoints_methods;
    template <class Made_, class Raw_> using adapter = IEnumConnectionPoints_adapter<Made_, Raw_>;
};

template <class obvia_holder>
obvia::object<IEnumConnectionPoints> IConnectionPointContainer_calls<obvia_holder>::EnumConnectionPoints() const
{
    IConnectionPointContainer *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IEnumConnectionPoints> ppEnum;
    obvia::check(self->EnumConnectionPoints(ppEnum.put()));
    return ppEnum;
}

template <class obvia_holder>
obvia::object<IConnectionPoint> IConnectionPointContainer_calls<obvia_holder>::FindConnectionPoint(const GUID &riid) const
{
    IConnectionPointContainer *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IConnectionPoint> ppCP;
    obvia::check(self->FindConnectionPoint(&riid, ppCP.put()));
    return ppCP;
}

template <class Made_, class Raw_>
struct IConnectionPointContainer_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT EnumConnectionPoints(IEnumConnectionPoints **ppEnum) override
    {
        *ppEnum = {};
        return obvia::guard([&] {
            IConnectionPointContainer_methods &object = this->obvia_object();
            *ppEnum = object.EnumConnectionPoints().detach();
        });
    }
    HRESULT FindConnectionPoint(const GUID *riid, IConnectionPoint **ppCP) override
    {
        *ppCP = {};
        return obvia::guard([&] {
            IConnectionPointContainer_methods &object = this->obvia_object();
            *ppCP = object.FindConnectionPoint(*riid).detach();
        });
    }
};

template <class obvia_holder>
GUID IConnectionPoint_calls<obvia_holder>::GetConnectionInterface() const
{
    IConnectionPoint *const self = static_cast<const obvia_holder *>(this)->get();
    GUID pIID{};
    obvia::check(self->GetConnectionInterface(&pIID));
    return pIID;
}

template <class obvia_holder>
obvia::object<IConnectionPointContainer> IConnectionPoint_calls<obvia_holder>::GetConnectionPointContainer() const
{
    IConnectionPoint *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IConnectionPointContainer> ppCPC;
    obvia::check(self->GetConnectionPointContainer(ppCPC.put()));
    return ppCPC;
}

template <class obvia_holder>
uint32_t IConnectionPoint_calls<obvia_holder>::Advise(const obvia::object<IUnknown> &pUnkSink) const
{
    IConnectionPoint *const self = static_cast<const obvia_holder *>(this)->get();
    uint32_t pdwCookie{};
    obvia::check(self->Advise(pUnkSink.get(), &pdwCookie));
    return pdwCookie;
}

template <class obvia_holder>
void IConnectionPoint_calls<obvia_holder>::Unadvise(uint32_t dwCookie) const
{
    IConnectionPoint *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Unadvise(dwCookie));
}

template <class obvia_holder>
obvia::object<IEnumConnections> IConnectionPoint_calls<obvia_holder>::EnumConnections() const
{
    IConnectionPoint *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IEnumConnections> ppEnum;
    obvia::check(self->EnumConnections(ppEnum.put()));
    return ppEnum;
}

template <class Made_, class Raw_>
struct IConnectionPoint_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT GetConnectionInterface(GUID *pIID) override
    {
        return obvia::guard([&] {
            IConnectionPoint_methods &object = this->obvia_object();
            *pIID = object.GetConnectionInterface();
        });
    }
    HRESULT GetConnectionPointContainer(IConnectionPointContainer **ppCPC) override
    {
        *ppCPC = {};
        return obvia::guard([&] {
            IConnectionPoint_methods &object = this->obvia_object();
            *ppCPC = object.GetConnectionPointContainer().detach();
        });
    }
    HRESULT Advise(IUnknown *pUnkSink, uint32_t *pdwCookie) override
    {
        return obvia::guard([&] {
            IConnectionPoint_methods &object = this->obvia_object();
            *pdwCookie = object.Advise(obvia::object<IUnknown>(pUnkSink));
        });
    }
    HRESULT Unadvise(uint32_t dwCookie) override
    {
        return obvia::guard([&] {
            IConnectionPoint_methods &object = this->obvia_object();
            object.Unadvise(dwCookie);
        });
    }
    HRESULT EnumConnections(IEnumConnections **ppEnum) override
    {
        *ppEnum = {};
        return obvia::guard([&] {
            IConnectionPoint_methods &object = this->obvia_object();
            *ppEnum = object.EnumConnections().detach();
        });
    }
};

template <class obvia_holder>
uint32_t IEnumConnections_calls<obvia_holder>::Next(uint32_t cConnections, obvia::span<obvia::filled<CONNECTDATA>> rgcd) const
{
    IEnumConnections *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check_length(rgcd.size(), cConnections);
    uint32_t pcFetched{};
    obvia::check(self->Next(cConnections, obvia::raw<CONNECTDATA>(rgcd), &pcFetched));
    return pcFetched;
}

template <class obvia_holder>
void IEnumConnections_calls<obvia_holder>::Skip(uint32_t cConnections) const
{
    IEnumConnections *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Skip(cConnections));
}

template <class obvia_holder>
void IEnumConnections_calls<obvia_holder>::Reset() const
{
    IEnumConnections *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Reset());
}

template <class obvia_holder>
obvia::object<IEnumConnections> IEnumConnections_calls<obvia_holder>::Clone() const
{
    IEnumConnections *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IEnumConnections> ppEnum;
    obvia::check(self->Clone(ppEnum.put()));
    return ppEnum;
}

template <class Made_, class Raw_>
struct IEnumConnections_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT Next(uint32_t cConnections, CONNECTDATA *rgcd, uint32_t *pcFetched) override
    {
        return obvia::guard([&] {
            IEnumConnections_methods &object = this->obvia_object();
            *pcFetched = object.Next(cConnections, obvia::room<obvia::filled<CONNECTDATA>>(rgcd, cConnections));
        });
    }
    HRESULT Skip(uint32_t cConnections) override
    {
        return obvia::guard([&] {
            IEnumConnections_methods &object = this->obvia_object();
            object.Skip(cConnections);
        });
    }
    HRESULT Reset() override
    {
        return obvia::guard([&] {
            IEnumConnections_methods &object = this->obvia_object();
            object.Reset();
        });
    }
    HRESULT Clone(IEnumConnections **ppEnum) override
    {
        *ppEnum = {};
        return obvia::guard([&] {
            IEnumConnections_methods &object = this->obvia_object();
            *ppEnum = object.Clone().detach();
        });
    }
};

template <class obvia_holder>
uint32_t IEnumConnectionPoints_calls<obvia_holder>::Next(uint32_t cConnections, obvia::span<obvia::object<IConnectionPoint>> ppCP) const
{
    IEnumConnectionPoints *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check_length(ppCP.size(), cConnections);
    uint32_t pcFetched{};
    obvia::check(self->Next(cConnections, obvia::raw<IConnectionPoint *>(ppCP), &pcFetched));
    return pcFetched;
}

template <class obvia_holder>
void IEnumConnectionPoints_calls<obvia_holder>::Skip(uint32_t cConnections) const
{
    IEnumConnectionPoints *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Skip(cConnections));
}

template <class obvia_holder>
void IEnumConnectionPoints_calls<obvia_holder>::Reset() const
{
    IEnumConnectionPoints *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Reset());
}

template <class obvia_holder>
obvia::object<IEnumConnectionPoints> IEnumConnectionPoints_calls<obvia_holder>::Clone() const
{
    IEnumConnectionPoints *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IEnumConnectionPoints> ppEnum;
    obvia::check(self->Clone(ppEnum.put()));
    return ppEnum;
}

template <class Made_, class Raw_>
struct IEnumConnectionPoints_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT Next(uint32_t cConnections, IConnectionPoint **ppCP, uint32_t *pcFetched) override
    {
        return obvia::guard([&] {
            IEnumConnectionPoints_methods &object = this->obvia_object();
            *pcFetched = object.Next(cConnections, obvia::room<obvia::object<IConnectionPoint>>(ppCP, cConnections));
        });
    }
    HRESULT Skip(uint32_t cConnections) override
    {
        return obvia::guard([&] {
            IEnumConnectionPoints_methods &object = this->obvia_object();
            object.Skip(cConnections);
        });
    }
    HRESULT Reset() override
    {
        return obvia::guard([&] {
            IEnumConnectionPoints_methods &object = this->obvia_object();
            object.Reset();
        });
    }
    HRESULT Clone(IEnumConnectionPoints **ppEnum) override
    {
        *ppEnum = {};
        return obvia::guard([&] {
            IEnumConnectionPoints_methods &object = this->obvia_object();
            *ppEnum = object.Clone().detach();
        });
    }
};

#endif
