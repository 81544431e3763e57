// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.internal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Follows which slots of a method's operand stack are {@code this}. Each instruction is taken for what it pops and pushes; where paths
 * meet, the class file says what is on the stack, and who jumps there which of it is {@code this}.
 */
abstract class ThisOnStack extends MethodVisitor {

    /** What each instruction without operand pops and pushes, in slots, from NOP to MONITOREXIT; 9 for those that need a look. */
    private static final String POPS = "0" + "000000000000000" // NOP, constants to DCONST_1
            + "22222222" // loads from arrays
            + "34343333" // stores into arrays: int, long, float, double, others
            + "12" + "9999999" // POP, POP2, the DUPs and SWAP
            + "2424" + "2424" + "2424" + "2424" + "2424" // + - * / %
            + "1212" // negations
            + "232323" + "242424" // shifts, and or xor
            + "111222111222111" // conversions
            + "42244" // comparisons
            + "121210" // returns
            + "111" + "1"; // ARRAYLENGTH, ATHROW, MONITORENTER, MONITOREXIT

    private static final String PUSHES = "0" + "111111112211122"
            + "12121111"
            + "00000000"
            + "00" + "9999999"
            + "1212" + "1212" + "1212" + "1212" + "1212"
            + "1212"
            + "121212" + "121212"
            + "212112122121111"
            + "11111"
            + "000000"
            + "100" + "0";

    private final String owner;
    private final List<Boolean> stack = new ArrayList<>();
    private final Map<Label, List<Boolean>> atLabels = new HashMap<>();
    private @Nullable List<Boolean> jumpedHere;
    private int line;

    ThisOnStack(String owner) {
        super(SpringAsmInfo.ASM_VERSION);
        this.owner = owner;
    }

    /** A method is called, or bound to a reference, on {@code this}. */
    abstract void calledOnThis(String on, String name, String descriptor, int atLine);

    private void push(int slots) {
        for (int i = 0; i < slots; i++) {
            stack.add(false);
        }
    }

    /** Pops, and answers whether the deepest of them is {@code this}. */
    private boolean pop(int slots) {
        boolean deepest = false;
        // nothing is there after a jump, until the next frame says what is
        for (int i = 0; i < slots && !stack.isEmpty(); i++) {
            deepest = stack.remove(stack.size() - 1);
        }
        return deepest;
    }

    @Override
    public void visitLineNumber(int number, Label start) {
        line = number;
    }

    @Override
    public void visitLabel(Label label) {
        jumpedHere = atLabels.get(label);
    }

    @Override
    public void visitFrame(
            int type, int numLocal, Object @Nullable [] local, int numStack, Object @Nullable [] onStack) {
        stack.clear();
        for (int i = 0; i < numStack && onStack != null; i++) {
            stack.add(owner.equals(onStack[i]));
            if (Opcodes.LONG.equals(onStack[i]) || Opcodes.DOUBLE.equals(onStack[i])) {
                stack.add(false);
            }
        }
        // who jumped here knows better which object of the class it is
        for (int i = 0; jumpedHere != null && i < stack.size() && i < jumpedHere.size(); i++) {
            stack.set(i, stack.get(i) && jumpedHere.get(i));
        }
    }

    private void jumpsTo(Label... labels) {
        for (Label label : labels) {
            atLabels.putIfAbsent(label, List.copyOf(stack));
        }
    }

    @Override
    public void visitInsn(int opcode) {
        if (opcode >= Opcodes.DUP && opcode <= Opcodes.SWAP) {
            shuffle(opcode);
            return;
        }
        int index = simpleIndex(opcode);
        pop(POPS.charAt(index) - '0');
        push(PUSHES.charAt(index) - '0');
    }

    /** The instructions without operand have their numbers in five runs. */
    private static int simpleIndex(int opcode) {
        if (opcode <= Opcodes.DCONST_1) {
            return opcode;
        }
        int index = Opcodes.DCONST_1 + 1;
        int[][] runs = {
            {Opcodes.IALOAD, Opcodes.SALOAD},
            {Opcodes.IASTORE, Opcodes.LXOR},
            {Opcodes.I2L, Opcodes.DCMPG},
            {Opcodes.IRETURN, Opcodes.RETURN},
            {Opcodes.ARRAYLENGTH, Opcodes.ATHROW},
            {Opcodes.MONITORENTER, Opcodes.MONITOREXIT}
        };
        for (int[] run : runs) {
            if (opcode <= run[1]) {
                return index + opcode - run[0];
            }
            index += run[1] - run[0] + 1;
        }
        throw new IllegalArgumentException("Unknown instruction " + opcode);
    }

    private void shuffle(int opcode) {
        switch (opcode) {
            case Opcodes.DUP -> copy(1, 0);
            case Opcodes.DUP_X1 -> copy(1, 1);
            case Opcodes.DUP_X2 -> copy(1, 2);
            case Opcodes.DUP2 -> copy(2, 0);
            case Opcodes.DUP2_X1 -> copy(2, 1);
            case Opcodes.DUP2_X2 -> copy(2, 2);
            default -> {
                copy(1, 1);
                pop(1);
            }
        }
    }

    /** Copies the top slots and puts the copy below those and some more. */
    private void copy(int slots, int below) {
        int size = stack.size();
        if (size >= slots + below) {
            stack.addAll(size - slots - below, List.copyOf(stack.subList(size - slots, size)));
        }
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        // NEWARRAY replaces the length
        push(opcode == Opcodes.NEWARRAY ? 0 : 1);
    }

    @Override
    public void visitVarInsn(int opcode, int index) {
        switch (opcode) {
            case Opcodes.ALOAD -> stack.add(index == 0);
            case Opcodes.ILOAD, Opcodes.FLOAD -> push(1);
            case Opcodes.LLOAD, Opcodes.DLOAD -> push(2);
            case Opcodes.LSTORE, Opcodes.DSTORE -> pop(2);
            default -> pop(1);
        }
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        switch (opcode) {
            case Opcodes.NEW -> push(1);
            case Opcodes.CHECKCAST -> {}
            default -> {
                pop(1);
                push(1);
            }
        }
    }

    @Override
    public void visitFieldInsn(int opcode, String on, String name, String descriptor) {
        int size = Type.getType(descriptor).getSize();
        boolean ofObject = opcode == Opcodes.GETFIELD || opcode == Opcodes.PUTFIELD;
        boolean puts = opcode == Opcodes.PUTFIELD || opcode == Opcodes.PUTSTATIC;
        pop((ofObject ? 1 : 0) + (puts ? size : 0));
        push(puts ? 0 : size);
    }

    @Override
    public void visitMethodInsn(int opcode, String on, String name, String descriptor, boolean isInterface) {
        int arguments = Type.getArgumentsAndReturnSizes(descriptor) >> 2;
        boolean onThis = pop(opcode == Opcodes.INVOKESTATIC ? arguments - 1 : arguments);
        if (onThis && opcode != Opcodes.INVOKESTATIC) {
            calledOnThis(on, name, descriptor, line);
        }
        push(Type.getReturnType(descriptor).getSize());
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
        boolean bound = pop((Type.getArgumentsAndReturnSizes(descriptor) >> 2) - 1);
        for (Object argument : arguments) {
            if (bound && argument instanceof Handle handle) {
                calledOnThis(handle.getOwner(), handle.getName(), handle.getDesc(), line);
            }
        }
        push(Type.getReturnType(descriptor).getSize());
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        switch (opcode) {
            case Opcodes.GOTO -> {}
            case Opcodes.JSR -> push(1);
            case Opcodes.IFEQ,
                    Opcodes.IFNE,
                    Opcodes.IFLT,
                    Opcodes.IFGE,
                    Opcodes.IFGT,
                    Opcodes.IFLE,
                    Opcodes.IFNULL,
                    Opcodes.IFNONNULL -> pop(1);
            default -> pop(2);
        }
        jumpsTo(label);
    }

    @Override
    public void visitLdcInsn(Object value) {
        push(value instanceof Long || value instanceof Double ? 2 : 1);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label dflt, Label... labels) {
        pop(1);
        jumpsTo(dflt);
        jumpsTo(labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label dflt, int[] keys, Label[] labels) {
        pop(1);
        jumpsTo(dflt);
        jumpsTo(labels);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        pop(dimensions);
        push(1);
    }
}
