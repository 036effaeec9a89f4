import { findAuthorFrame } from '../../core/errors.ts'
import { escapeSteering, oneLine } from '../../notices/log/fit-text.ts'
import { commandClock } from '../command-clock.ts'

/** Makes foreign text safe: one line, no control characters, at most `most` characters. */
export function formatText(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = oneLine(text)
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

const STYLES = String.raw`\u001B\[(?:[12]|22|3[1239])m`
const CONTROLS = new RegExp(String.raw`${STYLES}|([\p{Cc}--[\n\t]])`, 'gv')

/** Lines with our own styles, where no other control character is left to steer a terminal. */
export function steerless(lines: string): string {
  return lines.replace(CONTROLS, (found, control?: string) => (control === undefined ? found : oneLine(control)))
}

/** A JSON document on one line, with its value unchanged. No text in it steers a terminal. */
export function formatDocument(content: unknown): string {
  return escapeSteering(`${JSON.stringify(content)}`)
}

/** A time in this machine's zone: `14:03:21` for today, else `2026-06-01 14:03`. */
export function formatMoment(moment: number | string | null, now = commandClock.now()): string | null {
  if (moment === null) return null
  const date = new Date(moment)
  const time = date.toTimeString()
  if (date.toDateString() === new Date(now).toDateString()) return time.slice(0, 8)
  const day = [date.getMonth() + 1, date.getDate()].map((number) => String(number).padStart(2, '0'))
  return `${[date.getFullYear(), ...day].join('-')} ${time.slice(0, 5)}`
}

/** A duration such as `12 ms`, `1.4 s`, `3 min 20 s` or `2 h 5 min`; null if one end is null. */
export function formatSpan(startedAt: number | string | null, finishedAt: number | string | null): string | null {
  if (startedAt === null || finishedAt === null) return null
  const ms = Math.max(0, Number(new Date(finishedAt)) - Number(new Date(startedAt)))
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A duration in few columns, so that it moves nothing behind it: `12 s`, `9 m` or `3 d 4 h`. */
export function formatAge(startedAt: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - startedAt) / 1_000))
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ]
  if (minutes < 1) return `${seconds} s`
  if (hours < 1) return `${minutes} m`
  return days < 1 ? `${hours} h ${minutes % 60} m` : `${days} d ${hours % 24} h`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A size in decimal units, such as `1.5 kB`; null for null, as of a folder. */
export function formatBytes(bytes: number | null): string | null {
  if (bytes === null) return null
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  return power === 0 ? `${bytes} B` : `${(bytes / 1_000 ** power).toFixed(1)} ${UNITS[power]}`
}

/** A failure in words, with the author's file and line, relative to this folder where below it. */
export function formatFailure({
  at,
  ...failure
}: {
  name: string
  message: string
  at?: string[] | undefined
}): string {
  const frame = findAuthorFrame({ ...failure, ...(at === undefined ? {} : { at }) })
  const place = frame?.startsWith(`${process.cwd()}/`) ? frame.slice(process.cwd().length + 1) : frame
  return `${failure.name}: ${failure.message}${place === null || place === undefined ? '' : ` (at ${place})`}`
}

export function parseOutput(output: string | null): unknown {
  return output === null ? null : JSON.parse(output)
}
