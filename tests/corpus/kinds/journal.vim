" journal.vim - keep a daily journal
if exists('g:loaded_journal')
  finish
endif
let g:loaded_journal = 1
let g:journal_dir = expand('~/journal')

function! s:TodayFile() abort
  return g:journal_dir . '/' . strftime('%F') . '.txt'
endfunction

function! journal#Open(...) abort
  let l:file = a:0 ? a:1 : s:TodayFile()
  execute 'edit' fnameescape(l:file)
endfunction

func JournalCount()
  return len(glob(g:journal_dir . '/*', 0, 1))
endfunc

command! -nargs=? JournalOpen call journal#Open(<f-args>)
command -bar JournalStats echo JournalCount()

augroup journal_save
  autocmd!
  autocmd BufWritePost *.txt call s:Stamp()
augroup END

function s:Stamp()
  silent! undojoin
endfunction

nnoremap <silent> <Plug>(journal-open) :JournalOpen<CR>
