;; a functional queue
(define-module (data queue)
  #:export (make-queue enqueue))

(define max-length 100)

(define-record-type <queue>
  (make-queue front back)
  queue?
  (front queue-front)
  (back queue-back set-queue-back!))

(define (enqueue q x)
  (make-queue (queue-front q) (cons x (queue-back q))))

(define dequeue
  (lambda (q)
    (define (flip back)
      (reverse back))
    (car (append (queue-front q) (flip (queue-back q))))))

(define-syntax while-full
  (syntax-rules ()
    ((_ q body ...) (let loop () body ... (loop)))))

(define* (drain q #:optional (limit max-length))
  (display limit))

(define ((adder n) m) (+ n m))
