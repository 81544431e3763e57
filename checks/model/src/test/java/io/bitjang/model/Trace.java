// SPDX-License-Identifier: Apache-2.0
package io.bitjang.model;

import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.ast.Expr;
import edu.mit.csail.sdg.ast.Sig;
import edu.mit.csail.sdg.parser.CompModule;
import edu.mit.csail.sdg.parser.CompUtil;
import edu.mit.csail.sdg.translator.A4Solution;
import edu.mit.csail.sdg.translator.A4Tuple;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A story that the checker found, told step by step: what happened, and what the clock, the row, the holders and the transactions
 * are then. Holders are A, B, ..., the secret of A's own is a, transactions are T1, T2, ... Immutable.
 */
final class Trace {

    /** Of a state, not of a step: what a step breaks of these is seen in the state after it. */
    private static final Set<String> OF_A_STATE = Set.of("FencesUnique", "BeliefIsTrue", "LossTold");

    private record Line(String event, String now, String row, String others, String broken) {}

    private final CompModule model;
    private final A4Solution solution;
    private final Command command;
    private final List<String> properties;
    private final Map<String, Sig> sigs = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private final String text;

    Trace(CompModule model, A4Solution solution, Command command, List<String> properties) {
        this.model = model;
        this.solution = solution;
        this.command = command;
        this.properties = properties;
        model.getAllReachableSigs().forEach(sig -> sigs.put(sig.label.replace("this/", ""), sig));
        nameAll();
        this.text = tell();
    }

    /** What happened, in order, without the rest at the end. */
    List<String> events() {
        return List.copyOf(events);
    }

    @Override
    public String toString() {
        return text;
    }

    private void nameAll() {
        atoms("Num").forEach(atom -> names.put(atom, atom.replaceAll(".*\\$", "")));
        for (String holder : atoms("Holder")) {
            String letter = String.valueOf((char) ('A' + Integer.parseInt(holder.replaceAll(".*\\$", ""))));
            names.put(holder, letter);
            names.merge(pairs("Holder", "own", 0).get(holder).get(0), letter.toLowerCase(Locale.ROOT), String::concat);
        }
        atoms("Tx").forEach(atom -> names.put(atom, "T" + (1 + Integer.parseInt(atom.replaceAll(".*\\$", "")))));
        atoms("Owner").forEach(atom -> names.put(atom, "O" + atom.replaceAll(".*\\$", "")));
    }

    private String tell() {
        List<Line> lines = new ArrayList<>();
        boolean onlyOneStep = command.maxprefix == 2;
        lines.add(state(onlyOneStep ? "(before)" : "(start)", 0, ""));
        int last = onlyOneStep ? 1 : solution.getTraceLength();
        for (int i = 0; i < last; i++) {
            String event = one("Step", "event", i);
            // the successor of the last state is the one to which the story returns
            int next = i + 1 < solution.getTraceLength() ? i + 1 : solution.getLoopState();
            String broken = broken(i, next);
            boolean idle = next == i && (broken.isEmpty() || events.contains(event));
            if (event.equals("Rest") || idle) {
                break;
            }
            events.add(event);
            String who = one("Step", "who", i) + one("Step", "tx", i).replaceFirst("^(.)", " $1");
            String to = one("Step", "to", i);
            String what = (event + " " + who.strip() + (to.isEmpty() ? "" : " to " + to)).strip();
            lines.add(state(what, next, broken));
        }
        String without = one("Protocol", "without", 0);
        return command.label + ", " + (command.check ? "a counter-example" : "an example")
                + (without.isEmpty() ? "" : " without " + without)
                + (onlyOneStep ? ": one step, from a state that Kept allows" : "") + "\n" + holders() + "\n\n"
                + table(lines);
    }

    private String holders() {
        return atoms("Holder").stream()
                .map(holder -> names.get(holder) + ": " + field("Holder", "kind", holder, 0) + ", owner "
                        + field("Holder", "owner", holder, 0) + ", secret " + field("Holder", "own", holder, 0)
                        + ", sent at " + field("Holder", "sent", holder, 0))
                .collect(Collectors.joining("\n"));
    }

    private Line state(String event, int i, String broken) {
        String secret = one("Row", "secret", i);
        String fence = one("Row", "fence", i);
        String upTo = one("Row", "setAside", i);
        String expires = one("Row", "expires", i);
        String reentered = one("Row", "reentered", i);
        String row = fence.isEmpty()
                ? "none"
                : (secret.isEmpty() ? "free" : secret) + " fence " + fence + (upTo.equals(fence) ? "" : "-" + upTo)
                        + (secret.isEmpty() ? "" : " to " + (expires.isEmpty() ? "the end" : expires))
                        + (reentered.equals(fence) ? " re-entered" : "");
        List<String> others = new ArrayList<>();
        for (String holder : atoms("Holder")) {
            others.add(names.get(holder) + " " + holder(holder, i));
        }
        for (String tx : atoms("Tx")) {
            String at = field("Tx", "at", tx, i);
            if (!at.equals("New")) {
                others.add(names.get(tx) + " of " + field("Tx", "by", tx, i) + " " + at
                        + (members("Pinned", i).contains(tx) ? ", pinned" : ""));
            }
        }
        return new Line(event, one("Clock", "now", i), row, String.join("; ", others), broken);
    }

    private String holder(String holder, int i) {
        String state = field("Holder", "state", holder, i);
        String fence = field("Holder", "fence", holder, i);
        String deadline = field("Holder", "deadline", holder, i);
        boolean holding = state.equals("Holding");
        return state
                + (holding || state.equals("Granted") ? " " + field("Holder", "key", holder, i) + fence : "")
                + (holding ? " to " + (deadline.isEmpty() ? "the end" : deadline) : "");
    }

    private String broken(int step, int next) {
        return properties.stream()
                .filter(each -> !holds(each, OF_A_STATE.contains(each) ? next : step))
                .collect(Collectors.joining(", "));
    }

    private boolean holds(String property, int i) {
        Expr expression = CompUtil.parseOneExpression_fromString(model, property);
        return (boolean) solution.eval(expression, i);
    }

    private static String table(List<Line> lines) {
        int event = width(lines, Line::event);
        int row = width(lines, Line::row);
        int others = width(lines, Line::others);
        StringBuilder table = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            table.append(String.join(
                                    "  ",
                                    String.valueOf(i),
                                    pad(line.event, event),
                                    "now " + line.now,
                                    "row " + pad(line.row, row),
                                    pad(line.others, others),
                                    line.broken.isEmpty() ? "" : "<- breaks " + line.broken)
                            .stripTrailing())
                    .append('\n');
        }
        return table.toString();
    }

    private static int width(List<Line> lines, Function<Line, String> column) {
        return Math.max(
                7,
                lines.stream()
                        .mapToInt(line -> column.apply(line).length())
                        .max()
                        .orElse(0));
    }

    private static String pad(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }

    private List<String> atoms(String sig) {
        return members(sig, 0);
    }

    private List<String> members(String sig, int i) {
        List<String> atoms = new ArrayList<>();
        for (A4Tuple tuple : solution.eval(sigs.get(sig), i)) {
            atoms.add(tuple.atom(0));
        }
        return atoms.stream().sorted().toList();
    }

    /** The value of a field of the only one of its kind; empty if it has none. */
    private String one(String sig, String field, int i) {
        return field(sig, field, atoms(sig).get(0), i);
    }

    private String field(String sig, String field, String atom, int i) {
        return pairs(sig, field, i).getOrDefault(atom, List.of()).stream()
                .map(value -> names.getOrDefault(value, value.replaceAll("\\$.*", "")))
                .collect(Collectors.joining("+"));
    }

    private Map<String, List<String>> pairs(String sig, String field, int i) {
        for (Sig.Field each : sigs.get(sig).getFields()) {
            if (each.label.equals(field)) {
                Map<String, List<String>> pairs = new HashMap<>();
                for (A4Tuple tuple : solution.eval(each, i)) {
                    pairs.computeIfAbsent(tuple.atom(0), atom -> new ArrayList<>())
                            .add(tuple.atom(1));
                }
                return pairs;
            }
        }
        throw new IllegalArgumentException(sig + " has no " + field);
    }
}
