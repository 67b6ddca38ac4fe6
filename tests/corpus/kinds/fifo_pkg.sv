package fifo_pkg;
  localparam int unsigned DEPTH = 16;

  typedef enum logic [1:0] {EMPTY, PARTIAL, FULL} fill_e;

  typedef struct packed {
    logic valid;
    logic [7:0] payload;
  } beat_t;

  function automatic fill_e fill_of(int n);
    return n == 0 ? EMPTY : (n == DEPTH ? FULL : PARTIAL);
  endfunction
endpackage : fifo_pkg

interface fifo_if (input logic clk);
  logic push, pop;
  modport producer (output push);
endinterface

class FifoDriver extends uvm_component;
  rand int delay;

  function new(string name);
    super.new(name);
  endfunction

  virtual task drive_beat(fifo_pkg::beat_t b);
    #(delay);
  endtask
endclass

module sync_fifo import fifo_pkg::*; (fifo_if.producer bus);
  property p_no_overflow;
    @(posedge bus.clk) !(bus.push && fill_of(DEPTH) == FULL);
  endproperty
endmodule
