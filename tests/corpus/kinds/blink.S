@ blinks the LED of the board
    .syntax unified
    .cpu cortex-m3
    .thumb

    .equ GPIO_BASE, 0x40010800
    .set LED_PIN, 5

#define DELAY_COUNT 100000

    .macro set_bit reg, bit
    orr \reg, \reg, #(1 << \bit)
    .endm

    .section .text
    .global Reset_Handler
    .type Reset_Handler, %function
Reset_Handler:
    ldr r0, =GPIO_BASE
    bl led_toggle
1:
    b 1b

    .thumb_func
led_toggle:
    ldr r1, [r0]
    set_bit r1, LED_PIN
    str r1, [r0]
.Lwait_loop:
    subs r2, r2, #1
    bne .Lwait_loop
    bx lr

    .data
led_state: .word 0
