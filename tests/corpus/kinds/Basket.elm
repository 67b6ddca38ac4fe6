module Basket exposing (Model, Msg(..), main)

import Browser
import Html exposing (Html, button, text)


type alias Model =
    { apples : Int
    , note : Maybe String
    }


type Msg
    = AddApple
    | SetNote String


port saveBasket : Int -> Cmd msg


init : Model
init =
    { apples = 0, note = Nothing }


update : Msg -> Model -> Model
update msg model =
    case msg of
        AddApple ->
            { model | apples = model.apples + 1 }

        SetNote s ->
            { model | note = Just s }


viewCount : Int -> Html Msg
viewCount n =
    let
        label =
            String.fromInt n
    in
    text label


main =
    Browser.sandbox { init = init, update = update, view = .apples >> viewCount }
