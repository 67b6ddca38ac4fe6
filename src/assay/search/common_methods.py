"""Methods of the built-in types of many languages: a call of one on something unknown is most likely theirs."""

from __future__ import annotations

from assay.corpus.grammars import words

COMMON_METHODS = words("""
    add addAll all and any append apply as_bytes as_mut as_ref as_slice as_str at await bind bytes call catch
    ceil charAt chars clear clone close cloned collect compareTo concat contains containsKey copy count cp
    debug decode default delete deref dict drain each elem encode end endsWith endswith entries enumerate eq
    equals equalsIgnoreCase err error every exec execute exists exit expect expand extend fetch fill filter
    finally find findIndex first flat flatMap flatten flush fmt fold forEach format from fromkeys get getBytes
    getClass getKey getMessage getName getOrDefault getValue group groups has hasNext hashCode id includes
    index indexOf info insert intersection into into_iter is_empty is_none is_ok is_some isEmpty isalnum
    isalpha isdigit iter iter_mut items join key keys last lastIndexOf len length list ljust load lock log
    lower lstrip map map_err match matches max merge min name new next now ok ok_or open or or_else order
    parse peek poll pop popitem position print println printf push put putAll putIfAbsent query raise read
    readline readlines recv reduce remove removeAll repeat replace replaceAll reset resolve reverse rstrip run
    save search seek send set setdefault shift size skip sleep slice some sort sorted splice split splitlines
    start startsWith starts_with startswith step stop stream strip sub submit substring sum swap take test
    text then throw title toArray toList toLowerCase toString toUpperCase to_owned to_string to_vec transform
    trim try type union unlock unshift unwrap unwrap_or unwrap_or_default unwrap_or_else update upper url
    value valueOf values wait warn warning with write writelines yield zip Error String Read Write Close Len
    Less Swap Unlock Lock Done Add Wait Set Get Fatal Fatalf Errorf Logf Log Run Helper Equal True False Skip
""")
