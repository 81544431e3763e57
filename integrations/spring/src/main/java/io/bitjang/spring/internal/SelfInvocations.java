// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Finds, in the code of a class and those it inherits from, where an object calls a {@code @Locked} method of its own: directly, from a
 * lambda, or by a method reference. Calls on another object of the class, such as an injected proxy of itself, are not meant, and
 * neither is a caller that has the same lock.
 */
final class SelfInvocations {

    private static final Log log = LogFactory.getLog(SelfInvocations.class);

    private final Set<String> family = new LinkedHashSet<>();
    private final Map<String, LockedMethod> locked = new HashMap<>();
    private final Set<String> calls = new LinkedHashSet<>();

    private SelfInvocations(Class<?> type, Map<Method, LockedMethod> methods) {
        methods.forEach((method, lock) -> locked.put(method.getName() + Type.getMethodDescriptor(method), lock));
        for (Class<?> found : family(type)) {
            family.add(Type.getInternalName(found));
        }
    }

    /** Where it happens, each as a text for people. */
    static List<String> find(Class<?> type, Map<Method, LockedMethod> methods) {
        SelfInvocations search = new SelfInvocations(type, methods);
        family(type).forEach(search::read);
        return List.copyOf(search.calls);
    }

    private static Set<Class<?>> family(Class<?> type) {
        Set<Class<?>> family = new LinkedHashSet<>();
        for (Class<?> found = type; found != null && found != Object.class; found = found.getSuperclass()) {
            family.add(found);
        }
        family.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
        family.removeIf(found -> found.getName().startsWith("java."));
        return family;
    }

    private void read(Class<?> type) {
        try (@Nullable InputStream code = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
            if (code != null) {
                new ClassReader(code).accept(new Code(type), ClassReader.EXPAND_FRAMES);
            }
        } catch (IOException | IllegalArgumentException e) {
            log.debug("The code of " + type.getName() + " can't be read, so its calls are not checked", e);
        }
    }

    private final class Code extends ClassVisitor {

        private final Class<?> type;

        Code(Class<?> type) {
            super(SpringAsmInfo.ASM_VERSION);
            this.type = type;
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            boolean ofObject = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE)) == 0;
            return ofObject ? new Body(type, name, descriptor) : null;
        }
    }

    /** One method, whose operand stack is followed as far as needed to tell on which object another one is called. */
    private final class Body extends ThisOnStack {

        private final Class<?> type;
        private final String caller;
        private final List<LockedMethod> callersLocks = new ArrayList<>();

        Body(Class<?> type, String name, String descriptor) {
            super(Type.getInternalName(type));
            this.type = type;
            // javac's name for a lambda inside a method
            boolean lambda = name.startsWith("lambda$") && name.lastIndexOf('$') > "lambda$".length();
            this.caller = lambda ? name.substring("lambda$".length(), name.lastIndexOf('$')) : name;
            locked.forEach((signature, lock) -> {
                boolean same = lambda ? signature.startsWith(caller + "(") : signature.equals(name + descriptor);
                if (same) {
                    callersLocks.add(lock);
                }
            });
        }

        @Override
        void calledOnThis(String owner, String name, String descriptor, int line) {
            @Nullable LockedMethod called = locked.get(name + descriptor);
            if (called != null
                    && family.contains(owner)
                    && callersLocks.stream().noneMatch(called::sameLockAs)) {
                calls.add(type.getName() + "." + caller + (line > 0 ? " (line " + line + ")" : "") + " calls " + name);
            }
        }
    }
}
