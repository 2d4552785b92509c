//! The kinds of breaking changes, each with its consequence and its remedy.

use crate::tools::kinds::kinds;

kinds! {
    /// The kind of a breaking change.
    Kind;
    InterfaceRemoved, "interface-removed",
        "old clients find no object with the interface, and code that names it does not compile",
        "keep the interface, and let objects implement it beside its successor";
    InterfaceRenamed, "interface-renamed",
        "the name is part of the fingerprint, so old peers refuse the interface",
        "restore the name; a typedef can give the interface a further name";
    InterfaceUuid, "interface-uuid",
        "old clients query for the old uuid",
        "keep the old interface with its uuid, and declare the changed one beside it under a name of its own";
    InterfaceVersion, "interface-version",
        "peers bind the version that they were compiled with",
        "restore the version, and declare what is new in an interface with a uuid of its own";
    InterfaceBase, "interface-base",
        "the methods have other places in the vtable and other opnums",
        "restore the base, and declare a new interface for the new base";
    InterfaceKind, "interface-kind",
        "functions are bound by interface and version, and methods are called on objects",
        "restore [object] or its absence, and declare the other kind as a new interface";
    InterfaceLocal, "interface-local",
        "only interfaces without [local] have proxies",
        "restore [local] or its absence, and declare the other kind as a new interface";
    InterfaceDual, "interface-dual",
        "callers by name and callers by vtable expect different methods",
        "restore the base IDispatch or its absence, and declare the other kind as a new interface";
    InterfaceAutomation, "interface-automation",
        "type libraries describe another way to call the interface",
        "restore [dual] or [oleautomation]";
    EndpointRemoved, "endpoint-removed",
        "old clients without an endpoint mapper connect to the removed endpoint",
        "list the old endpoint as well, and let the server listen at both";
    InterfaceChanged, "interface-changed",
        "the fingerprint differs, so old peers refuse the interface",
        "restore the declaration, and declare the changed interface with a name and a uuid of its own";
    MethodAdded, "method-added",
        "the fingerprint differs, and a method before the last one moves those behind it",
        "declare an interface with a uuid of its own that extends this one, and add the method there";
    MethodRemoved, "method-removed",
        "old clients call the method, and the methods behind it have moved",
        "keep the method; it may return E_NOTIMPL";
    MethodMoved, "methods-moved",
        "old peers call methods by their places in the old order",
        "restore the order";
    MethodRenamed, "method-renamed",
        "the fingerprint differs, and code that calls the method does not compile",
        "restore the name, or declare the method in a new interface";
    MethodResult, "method-result",
        "old clients read another result",
        "restore the result, and return the new one from a new method of a new interface";
    MethodOneway, "method-oneway",
        "one side waits for a response that the other does not send",
        "restore [oneway] or its absence, and declare a new method in a new interface";
    MethodLocal, "method-local",
        "old clients call a method that new servers refuse, or new clients call one that old servers refuse",
        "restore [local] or its absence, and declare a new method in a new interface";
    MethodInProcess, "method-in-process",
        "code in the object's own process may not compile, and a program whose parts disagree ends when it is loaded",
        "restore the declaration, or declare a new method in a new interface";
    MethodCallAs, "method-call-as",
        "old peers call the method itself, or the one in its place",
        "restore [call_as] or its absence, and declare a new method in a new interface";
    IdempotentRemoved, "idempotent-removed",
        "old clients over datagrams may repeat the call",
        "restore [idempotent], or declare a new function in a new interface";
    MemberId, "dispid",
        "callers by name that keep DISPIDs call another member",
        "restore the id; new members get new ids";
    MemberKind, "accessor",
        "scripts use the member as a method or as a property, and the other use fails",
        "restore the attribute, and declare a new member for the other use";
    MemberRestricted, "restricted",
        "[restricted] decides whether callers by name see the member",
        "restore [restricted] or its absence";
    ParamAdded, "param-added",
        "old peers send and read fewer values",
        "declare a new method with the parameter in a new interface";
    ParamRemoved, "param-removed",
        "old peers send and read more values",
        "keep the parameter, which the method may ignore";
    ParamMoved, "params-moved",
        "old peers send the values in the old order",
        "restore the order";
    ParamRenamed, "param-renamed",
        "the name is part of the fingerprint, and callers by name use it",
        "restore the name";
    ParamDirection, "param-direction",
        "old peers send the value in other messages",
        "restore [in] and [out], and declare a new method in a new interface";
    ParamRetval, "param-retval",
        "the method has another result in languages that have results",
        "restore [retval] or its absence";
    ParamTransfer, "param-transfer",
        "old peers pass the elements in the frame or by reference",
        "restore the attribute, and declare a new method for the other transfer";
    ParamAutomation, "param-automation",
        "old peers send another of Automation's types",
        "restore the type; a new method in a new interface may take the other type";
    ParamOptional, "param-optional",
        "callers by name that omit the parameter fail, or get another value",
        "restore [optional] or [defaultvalue]";
    ParamVartype, "param-vartype",
        "callers by name convert the argument to another type",
        "restore the type: VARIANT_BOOL is no short, and DATE no double, for callers by name";
    ValueWidth, "value-width",
        "old peers send and read another number of bytes, and large values do not fit",
        "restore the type, and declare a new method or structure for the other width";
    ValueSign, "value-sign",
        "the sign bit has another meaning for old peers",
        "restore the type; [range] can exclude negative values in a new method";
    ValueType, "value-type",
        "old peers send and read another type",
        "restore the type, and declare a new method or structure for the other type";
    PointerClass, "pointer-class",
        "peers disagree on whether the pointer may be null or shared, and on its bytes",
        "restore [ref], [unique] or [ptr]; check pointer_default, too";
    PointerLevels, "pointer-levels",
        "old peers send the value itself where a pointer is expected, or the other way round",
        "restore the stars";
    ArrayForm, "array-form",
        "old peers send one value where an array or a string is expected, or the other way round",
        "restore [size_is] or [string], and declare a new method for the other form";
    ArraySize, "array-size",
        "old peers take the number of elements from another value",
        "restore the expression of [size_is] or [max_is]";
    ArrayLength, "array-length",
        "old peers take the number of passed elements from another value",
        "restore the expression of [length_is]";
    ArrayBound, "array-bound",
        "old peers send another number of elements, and members behind the array move",
        "restore the bound, and declare a new type for the other one";
    RangeNarrowed, "range-narrowed",
        "new peers refuse values that old peers send",
        "restore [range], and let the method itself refuse the values";
    RangeWidened, "range-widened",
        "old peers refuse values that new peers send",
        "restore [range], and declare a new method for the other values";
    Utf8Added, "utf8-added",
        "new peers refuse strings that old peers send",
        "remove [utf8], and let the method itself refuse the strings";
    Utf8Removed, "utf8-removed",
        "old peers refuse strings that new peers send",
        "restore [utf8], and declare a new method for the other strings";
    SwitchExpression, "switch-expression",
        "old peers select the union's arm by another value",
        "restore [switch_is]";
    ObjectInterface, "object-interface",
        "old peers call another interface of the passed object",
        "restore the interface; receivers can query the object for the other one";
    ObjectIid, "object-iid",
        "old peers take the passed object's interface from another value",
        "restore [iid_is]";
    TypeRemoved, "type-removed",
        "code that names the type does not compile",
        "keep the type";
    TypeRenamed, "type-renamed",
        "the name is part of the fingerprints of interfaces that use it, and code names it",
        "restore the name; a typedef can give the type a further name";
    TypeUuid, "type-uuid",
        "tools that refer to the type by its uuid do not find it",
        "restore the uuid";
    MemberAdded, "member-added",
        "the structure has another size, and old peers do not send the member",
        "declare a new structure with the member, and a new method that takes it";
    MemberRemoved, "member-removed",
        "the structure has another layout, and old peers send the member",
        "keep the member, which methods may ignore";
    MemberMoved, "members-moved",
        "the members have other offsets for old peers",
        "restore the order";
    MemberRenamed, "member-renamed",
        "the name is part of the fingerprint, and code that uses it does not compile",
        "restore the name";
    BitFields, "bit-fields",
        "old peers read other bits of the integer that travels",
        "restore the names, types and widths of the bit fields, and declare a new structure for others";
    OpenArray, "open-array",
        "a structure that ends in an array without a bound has another form in memory and on the wire",
        "restore the last member, and declare a new structure for the other form";
    ArmAdded, "arm-added",
        "old peers refuse the arm's discriminant",
        "declare a new union with the arm, and a new method that takes it";
    ArmRemoved, "arm-removed",
        "old peers send the arm, which new peers refuse",
        "keep the arm";
    ArmMoved, "arms-moved",
        "the order of the arms is part of the fingerprint, so old peers refuse the interface",
        "restore the order";
    ArmRenamed, "arm-renamed",
        "the name is part of the fingerprint, and code that uses it does not compile",
        "restore the name";
    ArmCases, "arm-cases",
        "old peers select another arm by the same discriminant",
        "restore the cases in their order";
    DefaultArm, "default-arm",
        "peers disagree on whether discriminants without a case are valid, and on what they select",
        "restore the default arm or its absence";
    UnionTag, "union-tag",
        "old peers send a discriminant of another type",
        "restore the discriminant's type";
    UnionForm, "union-form",
        "the discriminant is inside of the union for one side, and outside for the other",
        "restore the form, and declare a new union for the other one";
    UnionNames, "union-names",
        "the names of discriminant and union are part of the fingerprint, and code uses them",
        "restore the names";
    EnumAdded, "enum-value-added",
        "old peers refuse the value, or the interface, whose fingerprint differs",
        "declare a new enumeration with the value, and a new method that takes it";
    EnumRemoved, "enum-value-removed",
        "new peers refuse the value that old peers send",
        "keep the value";
    EnumChanged, "enum-value-changed",
        "the name stands for another number on each side",
        "restore the number; new names get new numbers";
    EnumRenamed, "enum-value-renamed",
        "the name is part of the fingerprint, and code that uses it does not compile",
        "restore the name; a constant can give the number a further name";
    EnumMoved, "enum-values-moved",
        "the order of the values is part of the fingerprint, so old peers refuse the interface",
        "restore the order";
    EnumWidth, "enum-width",
        "the enumeration has 16 bits in NDR without [v1_enum], and 32 with it",
        "restore [v1_enum] or its absence";
    EnumOpen, "enum-open",
        "peers disagree on whether values that are not listed are valid",
        "restore [open] or its absence, and declare a new enumeration";
    ConstRemoved, "const-removed",
        "code that names the constant does not compile",
        "keep the constant";
    ConstValue, "const-value",
        "programs that were compiled with the old value disagree with those that have the new one",
        "restore the value, and declare a new constant";
    ConstType, "const-type",
        "code that uses the constant gets another type",
        "restore the type, and declare a new constant";
    TypedefRemoved, "typedef-removed",
        "code that names the typedef does not compile",
        "keep the typedef";
    TypedefTarget, "typedef-target",
        "code that uses the typedef gets another type",
        "restore the typedef, and declare a new one";
    LibraryRemoved, "library-removed",
        "scripts and tools find no type library of the name",
        "keep the library";
    LibraryUuid, "library-uuid",
        "tools that refer to the library by its uuid do not find it",
        "restore the uuid";
    LibraryVersion, "library-version",
        "tools that ask for the old version refuse another major or a lower minor one",
        "restore the major version; the minor one may grow";
    LibraryMember, "library-member-removed",
        "scripts and tools do not find the declaration in the type library",
        "keep the declaration, or a reference to it, in the library";
    CoclassRemoved, "coclass-removed",
        "clients cannot make objects of the class",
        "keep the class";
    CoclassUuid, "coclass-uuid",
        "old clients make objects by the old CLSID",
        "restore the uuid, and declare a new class for the other one";
    CoclassNoncreatable, "coclass-noncreatable",
        "scripts and tools refuse to make objects of the class",
        "remove [noncreatable]";
    CoclassInterface, "coclass-interface-removed",
        "old clients query the class's objects for the interface",
        "keep the interface in the class";
    CoclassDefault, "coclass-default",
        "scripts get another interface when they make an object or connect to its events",
        "restore [default], or the order of the interfaces if none has it";
    DispinterfaceRemoved, "dispinterface-removed",
        "callers by name find no description of the interface",
        "keep the dispinterface";
    DispinterfaceUuid, "dispinterface-uuid",
        "event sinks connect by the old uuid",
        "restore the uuid, and declare a new dispinterface for the other one";
    DispMemberRemoved, "dispinterface-member-removed",
        "callers by name use the member",
        "keep the member";
    DispMemberType, "dispinterface-member-type",
        "callers by name get another value",
        "restore the type, and add a member with another name and id";
    DispMemberReadonly, "dispinterface-member-readonly",
        "callers by name set the property",
        "remove [readonly]";
}
