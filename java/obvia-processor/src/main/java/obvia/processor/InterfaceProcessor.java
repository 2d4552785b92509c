package obvia.processor;

import java.io.IOException;
import java.io.Writer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.AnnotationValue;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;
import javax.tools.Diagnostic;
import javax.tools.FileObject;
import javax.tools.JavaFileObject;
import javax.tools.StandardLocation;

/**
 * Generates {@code CalcInfo} for each compiled remote interface {@code Calc} that does not come
 * from IDL, and for the interfaces that {@code obvia.Interfaces} names.
 */
public final class InterfaceProcessor extends AbstractProcessor {
    /** The names of interfaces that wait for types from another processor. */
    private Set<String> waiting = new LinkedHashSet<>();

    private Program program;
    private InterfaceReader reader;

    /** Creates the processor. {@link java.util.ServiceLoader} calls this constructor. */
    public InterfaceProcessor() {}

    @Override
    public SourceVersion getSupportedSourceVersion() {
        return SourceVersion.latestSupported();
    }

    @Override
    public Set<String> getSupportedAnnotationTypes() {
        return Set.of("*");
    }

    @Override
    public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        if (program == null) {
            program = new Program(processingEnv.getElementUtils(), processingEnv.getTypeUtils());
            reader = new InterfaceReader(program);
        }
        Set<TypeElement> found = new LinkedHashSet<>();
        for (String name : waiting) {
            found.add(program.elements.getTypeElement(name));
        }
        waiting = new LinkedHashSet<>();
        collect(ElementFilter.typesIn(round.getRootElements()), found);
        for (Element named : round.getRootElements()) {
            collectNamed(named, found);
        }
        found.removeIf(element -> program.info(element) != null && !program.isFromJava(element));
        found.forEach(program::make);
        for (TypeElement element : found) {
            make(element);
        }
        // Annotations of other processors must not be claimed.
        return !annotations.isEmpty() && annotations.stream().allMatch(one -> one.getQualifiedName().toString().matches("(obvia|java\\.lang)\\..*"));
    }

    private void collect(Iterable<TypeElement> types, Set<TypeElement> found) {
        for (TypeElement type : types) {
            if (program.isRemote(type)) {
                found.add(type);
            }
            collect(ElementFilter.typesIn(type.getEnclosedElements()), found);
        }
    }

    private void collectNamed(Element element, Set<TypeElement> found) {
        AnnotationMirror interfaces = program.annotation(element, "obvia.Interfaces");
        if (interfaces == null) {
            return;
        }
        for (AnnotationValue all : interfaces.getElementValues().values()) {
            for (Object one : (List<?>) all.getValue()) {
                TypeElement named = program.declared((TypeMirror) ((AnnotationValue) one).getValue());
                if (program.isRemote(named)) {
                    found.add(named);
                } else {
                    say(element, "`" + named.getQualifiedName() + "` is not a remote interface: it does not extend obvia.Remote or java.rmi.Remote");
                }
            }
        }
    }

    private void make(TypeElement element) {
        try {
            Remote remote = reader.read(element);
            String name = program.elements.getPackageOf(element).getQualifiedName().toString();
            name = name.isEmpty() ? program.infoName(element) : name + "." + program.infoName(element);
            String text = new InfoCode(program, remote).text();
            try (Writer source = processingEnv.getFiler().createSourceFile(name, element).openWriter()) {
                source.write(text);
            }
            String path = "META-INF/obvia/" + name.substring(0, name.length() - "Info".length()).replace('.', '/') + ".idl";
            FileObject idl = processingEnv.getFiler().createResource(StandardLocation.CLASS_OUTPUT, "", path, element);
            try (Writer file = idl.openWriter()) {
                file.write(new IdlFile(program, reader, remote).text());
            }
        } catch (Refused e) {
            say(isHere(e.where) ? e.where : element, e.getMessage());
        } catch (Refused.Missing e) {
            waiting.add(element.getQualifiedName().toString());
        } catch (IOException e) {
            say(element, "the generated files cannot be written: " + e.getMessage());
        }
    }

    /** Whether an element comes from a source file, so that a message can have a position. */
    private boolean isHere(Element element) {
        return processingEnv.getElementUtils().getFileObjectOf(element).getKind() == JavaFileObject.Kind.SOURCE;
    }

    private void say(Element where, String message) {
        processingEnv.getMessager().printMessage(Diagnostic.Kind.ERROR, message, where);
    }
}
