`timescale 1ns / 1ps
`define BAUD_DIV 868

module uart_tx #(
    parameter WIDTH = 8
) (
    input  wire clk,
    input  wire [WIDTH-1:0] data,
    input  wire start,
    output reg  line
);
    localparam S_IDLE = 2'd0;
    localparam S_SEND = 2'd1;

    reg [1:0] state;
    wire tick;

    baud_gen #(.DIV(`BAUD_DIV)) u_baud (.clk(clk), .tick(tick));

    function parity_of;
        input [WIDTH-1:0] d;
        parity_of = ^d;
    endfunction

    task reset_line;
        begin line <= 1'b1; end
    endtask

    always @(posedge clk) begin : shifter
        if (start) state <= S_SEND;
    end
endmodule

module baud_gen #(parameter DIV = 10) (input clk, output tick);
    assign tick = clk;
endmodule
