(ns orchard.core
  (:require [clojure.string :as str]))

(def ^:const max-trees 400)

(defonce registry (atom {}))

(defrecord Tree [species planted])

(defprotocol Harvestable
  "Things one can pick."
  (ripe? [this])
  (pick! [this amount]))

(defn plant-tree
  "Adds a tree."
  [species]
  (swap! registry assoc (gensym) (->Tree species 2021)))

(defn- row-label [n]
  (str/join "-" ["row" n]))

(defmacro with-ladder [& body]
  `(do ~@body))

(defmulti prune :species)
(defmethod prune :apple [t] (assoc t :pruned true))

(extend-type Tree
  Harvestable
  (ripe? [this] true))

(deftest plant-tree-test
  (is (= 1 1)))

(let [secret 1]
  (defn leak [] secret))
