const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000

/** Time between two moments, in two units at most: `3.3 s`, `2 h 5 m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.floor(ms))} ms`
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)} s`
  if (ms < HOUR) return joinUnits(Math.floor(ms / MINUTE), 'm', Math.floor((ms % MINUTE) / 1_000), 's')
  if (ms < DAY) return joinUnits(Math.floor(ms / HOUR), 'h', Math.floor((ms % HOUR) / MINUTE), 'm')
  return joinUnits(Math.floor(ms / DAY), 'd', Math.floor((ms % DAY) / HOUR), 'h')
}

function joinUnits(large: number, one: string, small: number, other: string): string {
  return small === 0 ? `${large} ${one}` : `${large} ${one} ${small} ${other}`
}

/** Distance of a moment from now, in one unit: `2 m ago`, `in 3 h`; below a second, `now`. */
export function formatDistance(moment: number, now: number): string {
  const ms = Math.abs(now - moment)
  if (ms < 1_000) return 'now'
  const text =
    ms < MINUTE
      ? `${Math.floor(ms / 1_000)} s`
      : ms < HOUR
        ? `${Math.floor(ms / MINUTE)} m`
        : ms < 2 * DAY
          ? `${Math.floor(ms / HOUR)} h`
          : `${Math.floor(ms / DAY)} d`
  return moment > now ? `in ${text}` : `${text} ago`
}

/** A moment to the millisecond, in UTC or in the browser's zone. */
export function formatMoment(moment: number, isUtc: boolean): string {
  const date = new Date(moment)
  if (isUtc) return date.toISOString().replace('T', ' ').replace('Z', ' UTC')
  const local = new Date(moment - date.getTimezoneOffset() * MINUTE).toISOString().replace('T', ' ').replace('Z', '')
  const zone = Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(date)
  return `${local} ${zone.find(({ type }) => type === 'timeZoneName')?.value ?? ''}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB', 'PB']
  let value = bytes / 1_000
  // As it is rounded: nothing has 1000 kB.
  while (value >= 999.5 && units.length > 1) {
    value /= 1_000
    units.shift()
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[0]}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en')
}

/** `1 run`, `2 runs`; `nouns` where the plural has another ending. */
export function countOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`
}

/** The last eight characters of an id, which tell it from its neighbours. */
export function shortId(id: string): string {
  return id.slice(-8)
}

/** A word of a POSIX shell: quoted, unless it is plain. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A command of the shell with those of its options that have a value. */
export function commandOf(command: string, values: Record<string, unknown>, options: readonly string[]): string {
  const given = options.filter((name) => values[name]).map((name) => `--${name} ${shellWord(String(values[name]))}`)
  return [command, ...given].join(' ')
}

/** A moment as a field has it, to the minute. By its parts: old offsets have seconds. */
export function localOf(iso: string): string {
  const at = new Date(iso)
  const pad = (part: number, length = 2) => String(part).padStart(length, '0')
  const day = `${pad(at.getFullYear(), 4)}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`
}

/** Filters without those that are empty. */
export function givenOnly(filters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '' && value !== undefined))
}

/** The storages, under our own names. */
export const STORAGES = ['storage_a', 'storage_b', 'storage_c'] as const

/** A selection with one of its things added or taken away. */
export function toggled<Thing>(selection: ReadonlySet<Thing>, thing: Thing): ReadonlySet<Thing> {
  const next = new Set(selection)
  if (!next.delete(thing)) next.add(thing)
  return next
}

/**
 * A text of others. A character that turns its direction, looks like a space, or that nobody sees,
 * is shown as its number. Line breaks and tabs stay, and what shapes an emoji or letters.
 */
export function steady(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  const marked = /\p{RGI_Emoji}|([[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Z}]--[\t\n\r\u0020]])/gv
  return text.replace(marked, (found, unseen?: string, at = 0) =>
    unseen === undefined || isShaping(text, at) ? found : `⟨U+${unseen.codePointAt(0)?.toString(16).padStart(4, '0')}⟩`,
  )
}

/** True for a joiner between two letters of a script in which it changes their shape. */
function isShaping(text: string, at: number): boolean {
  if (!/[\u200c\u200d]/u.test(text.charAt(at))) return false
  const letter = /[\p{scx=Arab}\p{scx=Deva}\p{scx=Beng}\p{scx=Gujr}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}]/u
  return letter.test(text.charAt(at - 1)) && letter.test(text.charAt(at + 1))
}
