;;; beans.el --- count beans  -*- lexical-binding: t; -*-

(require 'cl-lib)

(defgroup beans nil "Counting." :group 'tools)

(defcustom beans-file "~/beans.org"
  "Where the beans are."
  :type 'file)

(defvar beans--cache nil)
(defconst beans-per-jar 300)

(defface beans-highlight '((t :weight bold)) "Face.")

(cl-defstruct bean-jar label (count 0))

(defun beans-count (file)
  "Count beans in FILE."
  (interactive "fFile: ")
  (with-temp-buffer (insert-file-contents file) (count-lines 1 (point-max))))

(defmacro beans-with-jar (jar &rest body)
  `(let ((it ,jar)) ,@body))

(cl-defun beans-add (&key (n 1) jar)
  (cl-incf (bean-jar-count jar) n))

(defsubst beans--clear () (setq beans--cache nil))

(define-minor-mode beans-mode "Mode." :lighter " Bn")
(defalias 'count-beans #'beans-count)

(provide 'beans)
;;; beans.el ends here
