#lang racket/base
(require racket/list racket/contract)
(provide solve-maze (struct-out cell))

(define CELL-SIZE 24)

(struct cell (row col wall?) #:transparent)

(define (neighbours c)
  (for/list ([d '((0 1) (1 0))])
    (cell (+ (cell-row c) (first d)) (cell-col c) #f)))

(define/contract (solve-maze start)
  (-> cell? list?)
  (let loop ([seen '()] [here start])
    (if (cell-wall? here) seen (loop (cons here seen) here))))

(define-syntax-rule (unless-wall c body ...)
  (unless (cell-wall? c) body ...))

(define maze%
  (class object%
    (init-field rows)
    (define/public (render-row n)
      (list-ref rows n))
    (super-new)))

(define-values (min-row max-row) (values 0 99))

(module+ test
  (require rackunit)
  (check-true #t))
