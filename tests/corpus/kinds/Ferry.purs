module Data.Ferry
  ( Ferry
  , boardAll
  ) where

import Prelude
import Data.Maybe (Maybe(..))

data Deck = Upper | Lower

newtype Ferry = Ferry { name :: String, cars :: Int }

type Manifest = Array String

class Floats a where
  draught :: a -> Number

instance floatsFerry :: Floats Ferry where
  draught (Ferry f) = 2.0

derive instance eqDeck :: Eq Deck

foreign import hornImpl :: String -> Unit

maxCars :: Int
maxCars = 60

boardAll :: Manifest -> Ferry -> Maybe Ferry
boardAll [] f = Just f
boardAll _ (Ferry f)
  | f.cars > maxCars = Nothing
  | otherwise = Just (bump f)
  where
  bump r = Ferry (r { cars = r.cars + 1 })

infixl 4 boardAll as <+|
