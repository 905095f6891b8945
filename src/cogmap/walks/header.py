"""What the columns of a table of walks are called, in logs of other programs and in other languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cogmap.errors import BadWalks

HEADER = ("walk", "step", "observation", "action")
REWARD = "reward"  # of the action, a column that may be there too
# What columns are called in logs: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian,
# Chinese and Japanese.
_NAMES = {
    "walk": "walk walk_id episode episode_id session session_id trajectory trial run path lauf gang sitzung "
    "marche parcours trajet épisode recorrido paseo episodio sesión sessione percorso caminhada sessão sessie "
    "epizod sesja эпизод сессия прогон 回合 轨迹 会话 エピソード セッション",
    "step": "step step_id t time timestamp datetime date index tick frame schritt zeit zeitpunkt zeitstempel datum pas "
    "étape temps horodatage paso tiempo fecha hora passo tempo ora etapa stap tijd krok czas шаг время "
    "дата 步骤 步 时间 时间戳 日期 ステップ 時刻 日時",
    "observation": "observation observations obs seen sees view output response beobachtung gesehen ausgabe vue sortie "
    "observación observacion visto salida osservazione vista uscita observação saída waarneming observatie uitvoer "
    "obserwacja наблюдение выход 观察 观测 输出 観測 観察 出力",
    "action": "action actions act done does input request aktion handlung eingabe getan geste entrée acción accion "
    "entrada azione ingresso ação acao actie handeling invoer akcja działanie действие вход 动作 行动 输入 行動 入力",
    REWARD: "reward rewards belohnung récompense recompensa ricompensa beloning nagroda награда 奖励 報酬",
}
# Names that other columns may carry too: they count only where a column with one of those above is missing.
_LESS_CLEAR = {
    "walk": "user user_id visitor visitor_id client client_id case case_id game game_id",
    "step": "created_at seconds second ms when moment",
    "observation": "page screen url state display reading message symbol seite bildschirm zustand anzeige écran état "
    "pantalla estado pagina schermo stato página tela scherm",
    "action": "event click command button key move operation activity ereignis klick befehl zug événement clic "
    "commande evento comando clique opdracht",
}
_ROLE_OF, _MAYBE_ROLE_OF = (
    {name: role for role, names in table.items() for name in names.split()} for table in (_NAMES, _LESS_CLEAR)
)


def roles(header: Sequence[str]) -> Mapping[str, int]:
    """The place of each of the four columns in a row."""
    names = [name.strip().casefold().replace(" ", "_") for name in header]
    place = _named(names, _ROLE_OF)
    place |= _named(names, _MAYBE_ROLE_OF, place)
    missing = [role for role in ("observation", "action") if role not in place]
    if missing:
        got = ",".join(header)[:60]
        rule = f"the header must be {','.join(HEADER)!r}, in any order, got {got!r}"
        rename = "give the columns of what was seen and what was done these names"
        raise BadWalks(f"line 1: {rule}: there is no {' and no '.join(missing)}; {rename}")
    return place


def _named(
    names: Sequence[str], role_of: Mapping[str, str], known: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The place of each role that a table of names finds in a header; of those already known none is looked for."""
    place: dict[str, int] = {}
    for index, name in enumerate(names):
        role = role_of.get(name)
        if role is None or role in (known or ()) or (role != name and role in names):
            continue  # beside `step`, a column `time` is another thing
        if role in place:
            twice = f"{names[place[role]]!r:.40} and {name!r:.40}"
            raise BadWalks(f"line 1: the header must name one column for the {role}, got {twice}")
        place[role] = index
    return place


def names_steps(header: Sequence[str]) -> bool:
    """Whether these are names of columns of a table of steps."""
    try:
        roles(header)
    except BadWalks:
        return False
    return True
