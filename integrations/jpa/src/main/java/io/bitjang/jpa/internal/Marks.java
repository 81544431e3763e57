// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.internal;

import io.bitjang.jpa.PartOf;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Where {@link PartOf} stands. */
public final class Marks {

    private Marks() {}

    /** The attributes of a class, and of those that it extends, that are marked. */
    public static Set<String> of(Class<?> type) {
        Set<String> names = new TreeSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            Stream.<Member>concat(Stream.of(each.getDeclaredFields()), Stream.of(each.getDeclaredMethods()))
                    .filter(member -> ((AnnotatedElement) member).isAnnotationPresent(PartOf.class))
                    .map(member -> attribute(member.getName()))
                    .forEach(names::add);
        }
        return names;
    }

    private static String attribute(String member) {
        return member.matches("get\\p{javaUpperCase}.*")
                ? member.substring(3, 4).toLowerCase(Locale.ROOT) + member.substring(4)
                : member;
    }
}
