-module(lift_ctl).
-behaviour(gen_server).

-export([start_link/1, call_floor/2]).
-export([init/1, handle_call/3]).

-define(MAX_FLOOR, 9).
-define(LOG(Fmt, Args), io:format(Fmt, Args)).

-record(cabin, {floor = 0 :: integer(), doors = closed}).

-type direction() :: up | down.
-spec call_floor(pid(), integer()) -> ok.

start_link(Name) ->
    gen_server:start_link({local, Name}, ?MODULE, [], []).

call_floor(Pid, Floor) when Floor =< ?MAX_FLOOR ->
    gen_server:call(Pid, {floor, Floor});
call_floor(_, _) ->
    {error, too_high}.

init([]) ->
    {ok, #cabin{}}.

handle_call({floor, F}, _From, State) ->
    {reply, ok, State#cabin{floor = F}};
handle_call(_Other, _From, State) ->
    {noreply, State}.

direction_of(A, B) when A < B -> up;
direction_of(_, _) -> down.
