{ lib, stdenv, fetchurl, withDocs ? true }:

let
  version = "3.2";

  mkPlugin = name: src:
    stdenv.mkDerivation {
      inherit name src;
    };

  commonFlags = [ "--with-ssl" ];
in
stdenv.mkDerivation rec {
  pname = "kettle";
  inherit version;

  src = fetchurl {
    url = "https://example.org/kettle-${version}.tar.gz";
    hash = "sha256-AAAA";
  };

  configureFlags = commonFlags ++ lib.optional withDocs "--docs";

  installPhase = ''
    fake = 1;
    mkdir -p $out/bin
  '';

  passthru.plugins = {
    steam = mkPlugin "steam" ./steam;
  };

  meta = with lib; {
    description = "Boils water";
    license = licenses.mit;
  };
}
