with Ada.Text_IO;

package body Railway.Signals is

   Max_Aspects : constant := 4;

   type Aspect is (Stop, Caution, Proceed);

   subtype Block_Id is Positive range 1 .. 99;

   type Signal_Head is record
      Shown : Aspect := Stop;
   end record;

   Signal_Failure : exception;

   procedure Set_Aspect (S : in out Signal_Head; A : Aspect) is
   begin
      S.Shown := A;
   end Set_Aspect;

   function Is_Clear (S : Signal_Head) return Boolean is
     (S.Shown = Proceed);

   protected body Track_Lock is
      entry Seize when True is
      begin
         null;
      end Seize;
   end Track_Lock;

   task body Watchdog is
   begin
      Ada.Text_IO.Put_Line ("watching");
   end Watchdog;

end Railway.Signals;
