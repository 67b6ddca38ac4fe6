# notes for the fish shell
set -g notes_dir ~/notes
set -gx NOTES_EDITOR vim

function notes_new --description 'start a note' --argument-names title
    set -l file $notes_dir/$title.md
    test -e $file; or touch $file
    $NOTES_EDITOR $file
end

function __notes_titles
    for f in $notes_dir/*.md
        basename $f .md
    end
end

function notes_watch --on-event fish_prompt
    if test (count $notes_dir/*) -gt 100
        echo "many notes"
    end
end

function notes-grep; grep -r $argv $notes_dir; end

alias nn notes_new
abbr -a ng notes-grep

complete -c notes_new -a '(__notes_titles)'
