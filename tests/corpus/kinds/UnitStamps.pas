unit UnitStamps;

interface

uses
  SysUtils, Classes;

const
  MaxStamps = 500;

type
  TStampState = (ssMint, ssUsed);

  TStamp = class(TObject)
  private
    FValue: Integer;
    procedure SetValue(const AValue: Integer);
  public
    constructor Create(AValue: Integer);
    function Describe: string; virtual;
    property Value: Integer read FValue write SetValue;
  end;

function CountStamps(List: TList): Integer;

implementation

constructor TStamp.Create(AValue: Integer);
begin
  FValue := AValue;
end;

procedure TStamp.SetValue(const AValue: Integer);
begin
  FValue := AValue;
end;

function TStamp.Describe: string;
begin
  Result := IntToStr(FValue);
end;

function CountStamps(List: TList): Integer;
begin
  Result := List.Count;
end;

end.
