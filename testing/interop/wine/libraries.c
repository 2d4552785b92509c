/* Reads a type library with Wine's oleaut32: libraries.exe FILE. Ends with 1 if the library is
 * refused, or differs from testing/vectors/typelib/tones.idl. Also looks names up in the library's
 * hash tables. */

#define COBJMACROS
#include <stdio.h>
#include <windows.h>
#include <oleauto.h>

static void expect(const char *what, int is_right)
{
    if (!is_right) {
        fprintf(stderr, "libraries.exe: %s: that is wrong\n", what);
        ExitProcess(1);
    }
}

/* Returns the library's type of this name. */
static ITypeInfo *named(ITypeLib *library, const OLECHAR *name)
{
    UINT at;
    for (at = 0; at < ITypeLib_GetTypeInfoCount(library); at++) {
        BSTR found;
        ITypeInfo *info;
        expect("GetDocumentation", ITypeLib_GetDocumentation(library, at, &found, NULL, NULL, NULL) == S_OK);
        if (wcscmp(found, name) == 0) {
            expect("GetTypeInfo", ITypeLib_GetTypeInfo(library, at, &info) == S_OK);
            return info;
        }
    }
    expect("a type is missing", 0);
    return NULL;
}

static TYPEATTR *attributes(ITypeInfo *info)
{
    TYPEATTR *attributes;
    expect("GetTypeAttr", ITypeInfo_GetTypeAttr(info, &attributes) == S_OK);
    return attributes;
}

static void library(ITypeLib *library)
{
    TLIBATTR *about;
    BSTR name, help;
    OLECHAR looked_up[] = L"IPlayer";
    ITypeInfo *found[4];
    MEMBERID ids[4];
    USHORT count = 4;
    BOOL is_there = FALSE;
    expect("GetLibAttr", ITypeLib_GetLibAttr(library, &about) == S_OK);
    expect("the library's version", about->wMajorVerNum == 1 && about->wMinorVerNum == 2);
    expect("the library's language", about->lcid == 0x409 && about->syskind == SYS_WIN64);
    expect("the library's UUID", about->guid.Data1 == 0x7a1c0e10 && about->guid.Data4[7] == 0x10);
    expect("the library's words", ITypeLib_GetDocumentation(library, -1, &name, &help, NULL, NULL) == S_OK);
    expect("the library's words", wcscmp(name, L"Tones") == 0 && wcscmp(help, L"Tones") == 0);
    expect("IsName", ITypeLib_IsName(library, looked_up, 0, &is_there) == S_OK && is_there);
    expect("FindName", ITypeLib_FindName(library, looked_up, 0, found, ids, &count) == S_OK && count == 1);
    expect("FindName", ids[0] == MEMBERID_NIL);
}

/* Checks IPlayer, a dual interface, which has two type descriptions. */
static void player(ITypeLib *library)
{
    ITypeInfo *by_name = named(library, L"IPlayer"), *by_vtable, *base;
    TYPEATTR *about = attributes(by_name), *vtable;
    FUNCDESC *find;
    HREFTYPE reference;
    OLECHAR name[] = L"FIND", limit[] = L"LIMIT";
    OLECHAR *names[2] = { name, limit };
    BSTR said[8];
    UINT count;
    MEMBERID ids[2];
    expect("IPlayer", about->typekind == TKIND_DISPATCH && about->guid.Data4[7] == 0x12);
    expect("IPlayer's flags", about->wTypeFlags == (TYPEFLAG_FDUAL | TYPEFLAG_FDISPATCHABLE));
    expect("GetIDsOfNames", ITypeInfo_GetIDsOfNames(by_name, names, 2, ids) == S_OK && ids[0] == 3 && ids[1] == 1);
    expect("the vtable's side", ITypeInfo_GetRefTypeOfImplType(by_name, -1, &reference) == S_OK);
    expect("the vtable's side", ITypeInfo_GetRefTypeInfo(by_name, reference, &by_vtable) == S_OK);
    vtable = attributes(by_vtable);
    expect("IPlayer's vtable", vtable->typekind == TKIND_INTERFACE && vtable->cbSizeVft == 17 * 8 && vtable->cFuncs == 10);
    expect("IPlayer's base", ITypeInfo_GetRefTypeOfImplType(by_vtable, 0, &reference) == S_OK);
    expect("IPlayer's base", ITypeInfo_GetRefTypeInfo(by_vtable, reference, &base) == S_OK);
    expect("IPlayer's base", IsEqualGUID(&attributes(base)->guid, &IID_IDispatch));
    expect("GetFuncDesc", ITypeInfo_GetFuncDesc(by_vtable, 5, &find) == S_OK);
    expect("Find", find->memid == 3 && find->oVft == 12 * 8 && find->cParams == 6 && find->wFuncFlags == FUNCFLAG_FHIDDEN);
    expect("Find's names", ITypeInfo_GetNames(by_vtable, 3, said, 8, &count) == S_OK && count == 7);
    expect("Find's names", wcscmp(said[0], L"Find") == 0 && wcscmp(said[6], L"titles") == 0);
    {
        ELEMDESC *params = find->lprgelemdescParam;
        expect("a BSTR", params[0].tdesc.vt == VT_BSTR && params[0].paramdesc.wParamFlags == PARAMFLAG_FIN);
        expect("a default", V_VT(&params[1].paramdesc.pparamdescex->varDefaultValue) == VT_I4);
        expect("a default", V_I4(&params[1].paramdesc.pparamdescex->varDefaultValue) == 10);
        expect("a text", wcscmp(V_BSTR(&params[2].paramdesc.pparamdescex->varDefaultValue), L"loud") == 0);
        expect("a number below zero", V_I2(&params[3].paramdesc.pparamdescex->varDefaultValue) == -5);
        expect("a number below zero", V_I4(&params[4].paramdesc.pparamdescex->varDefaultValue) == -5);
        expect("an array", params[5].tdesc.vt == VT_PTR && params[5].tdesc.lptdesc->vt == VT_SAFEARRAY);
        expect("an array", params[5].tdesc.lptdesc->lptdesc->vt == VT_BSTR);
    }
}

static void structures(ITypeLib *library)
{
    ITypeInfo *info = named(library, L"Tone"), *inner;
    TYPEATTR *about = attributes(info);
    VARDESC *member;
    ARRAYDESC *grid;
    expect("Tone", about->typekind == TKIND_RECORD && about->cVars == 8 && about->cbSizeInstance == 104);
    expect("a member", ITypeInfo_GetVarDesc(info, 1, &member) == S_OK && member->oInst == 8);
    expect("a structure in it", ITypeInfo_GetRefTypeInfo(info, member->elemdescVar.tdesc.hreftype, &inner) == S_OK);
    expect("a structure in it", attributes(inner)->cbSizeInstance == 16);
    expect("an array", ITypeInfo_GetVarDesc(info, 7, &member) == S_OK && member->elemdescVar.tdesc.vt == VT_CARRAY);
    grid = member->elemdescVar.tdesc.lpadesc;
    expect("an array", grid->tdescElem.vt == VT_I8 && grid->cDims == 2 && grid->rgbounds[1].cElements == 3);
    info = named(library, L"Colour");
    expect("an enumeration", attributes(info)->typekind == TKIND_ENUM && attributes(info)->cVars == 4);
    expect("a value", ITypeInfo_GetVarDesc(info, 2, &member) == S_OK && V_I4(member->lpvarValue) == 0x12345678);
    expect("a value", ITypeInfo_GetVarDesc(info, 3, &member) == S_OK && V_I4(member->lpvarValue) == -1);
    info = named(library, L"Shade");
    expect("a further name", attributes(info)->typekind == TKIND_ALIAS && attributes(info)->tdescAlias.vt == VT_USERDEFINED);
}

static void classes(ITypeLib *library)
{
    ITypeInfo *info = named(library, L"Player"), *tones;
    INT flags[4] = { 0 };
    UINT at;
    VARDESC *property;
    HREFTYPE reference;
    expect("Player", attributes(info)->typekind == TKIND_COCLASS && attributes(info)->cImplTypes == 4);
    expect("Player", attributes(info)->wTypeFlags == TYPEFLAG_FCANCREATE);
    for (at = 0; at < 4; at++)
        expect("GetImplTypeFlags", ITypeInfo_GetImplTypeFlags(info, at, &flags[at]) == S_OK);
    expect("an interface", flags[0] == IMPLTYPEFLAG_FDEFAULT && flags[1] == 0 && flags[2] == IMPLTYPEFLAG_FSOURCE);
    expect("an interface", flags[3] == (IMPLTYPEFLAG_FDEFAULT | IMPLTYPEFLAG_FSOURCE));
    expect("DTones", ITypeInfo_GetRefTypeOfImplType(info, 3, &reference) == S_OK);
    expect("DTones", ITypeInfo_GetRefTypeInfo(info, reference, &tones) == S_OK);
    expect("DTones", attributes(tones)->typekind == TKIND_DISPATCH && attributes(tones)->cVars == 2);
    expect("a property", ITypeInfo_GetVarDesc(tones, 1, &property) == S_OK && property->memid == 2);
    expect("a property", property->varkind == VAR_DISPATCH && property->elemdescVar.tdesc.vt == VT_BSTR);
}

int wmain(int count, OLECHAR **words)
{
    ITypeLib *loaded;
    HRESULT outcome = count == 2 ? LoadTypeLibEx(words[1], REGKIND_NONE, &loaded) : E_INVALIDARG;
    if (FAILED(outcome)) {
        fprintf(stderr, "libraries.exe: the library is not loaded: %lx\n", (unsigned long)outcome);
        return 1;
    }
    library(loaded);
    player(loaded);
    structures(loaded);
    classes(loaded);
    return 0;
}
