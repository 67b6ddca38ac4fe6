(defpackage :chess
  (:use :cl)
  (:export #:legal-moves))

(in-package :chess)

(defparameter *board-size* 8)
(defvar *history* nil "Moves so far.")
(defconstant +white+ 0)

(defclass piece ()
  ((colour :initarg :colour :reader piece-colour)
   (square :initarg :square :accessor piece-square)))

(defstruct (move (:copier nil)) from to)

(defgeneric legal-moves (piece)
  (:documentation "All moves."))

(defmethod legal-moves ((p piece))
  (list (make-move :from (piece-square p))))

(defun on-board-p (row col)
  (and (< -1 row *board-size*) (< -1 col *board-size*)))

(defmacro with-turn ((colour) &body body)
  `(let ((turn ,colour)) ,@body))

(define-condition illegal-move (error) ())

(deftype square () '(integer 0 63))

(defun (setf turn) (new) (push new *history*))
