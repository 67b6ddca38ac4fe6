library ieee;
use ieee.std_logic_1164.all;

package button_types is
  constant MAX_COUNT : natural := 5000;
  type press_state is (released, bouncing, pressed);
  function is_down(s : press_state) return boolean;
end package;

entity debounce is
  generic (WIDTH : positive := 4);
  port (
    clk    : in  std_logic;
    button : in  std_logic;
    stable : out std_logic
  );
end entity debounce;

architecture rtl of debounce is
  signal counter : natural := 0;

  component edge_detect is
    port (d : in std_logic);
  end component;

  procedure clear_count(signal c : out natural) is
  begin
    c <= 0;
  end procedure;
begin
  u_edge : edge_detect port map (d => button);

  sample_proc : process (clk)
  begin
    if rising_edge(clk) then counter <= counter + 1; end if;
  end process;
end architecture rtl;
