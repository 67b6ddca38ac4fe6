; nasm, x86-64
%define NEWLINE 10
BUFSIZE equ 64

%macro write_out 2
    mov rax, 1
    mov rdi, 1
    mov rsi, %1
    mov rdx, %2
    syscall
%endmacro

section .data
greeting: db "hello", NEWLINE
greeting_len equ $ - greeting

section .bss
line_buf: resb BUFSIZE

section .text
global _start

_start:
    write_out greeting, greeting_len
    mov rdi, greeting
    call count_bytes
    jmp quit

count_bytes:
    xor rax, rax
.next:
    cmp byte [rdi + rax], 0
    je .done
    inc rax
    jmp .next
.done:
    ret

quit:
    mov rax, 60
    syscall
