import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { NamedFile } from '../../../../app/rehearsal/gather-files.ts'
import { UpshotError } from '../../../../core/errors.ts'

/** Paths that an error lists. */
const MAX_PATHS = 5

/** The files, some with bytes of this machine, by `<path>=<file>`. Throws `invalid_request`. */
export function giveBytes(files: readonly NamedFile[], given: readonly string[]): NamedFile[] {
  const wanted = new Map(given.map(readPair))
  const own = files.map((file) => {
    const from = wanted.get(`${file.storage}:${file.path}`) ?? wanted.get(file.path ?? '')
    return from === undefined ? file : { ...file, from }
  })
  for (const place of wanted.keys()) {
    const isFound = files.some(({ storage, path }) => place === path || place === `${storage}:${path}`)
    if (!isFound) throw refuseUnknown(place, files)
  }
  return own
}

function readPair(text: string): [place: string, from: string] {
  const at = text.lastIndexOf('=')
  const [place, from] = [text.slice(0, at), resolve(text.slice(at + 1))]
  if (at < 1) throw refuse(`--bytes ${text}: no file is named.`, 'Write --bytes <path>=<file of this machine>.')
  if (statSync(from, { throwIfNoEntry: false })?.isFile() === true) return [place, from]
  throw refuse(`--bytes ${text}: ${from} is no file.`, 'Name a file of this machine after the "=".')
}

function refuseUnknown(place: string, files: readonly NamedFile[]): UpshotError {
  const paths = files.filter(({ path, type }) => path !== null && type === 'file').map((file) => file.path)
  const [first, more] = [paths.slice(0, MAX_PATHS).join(', ') || 'none', paths.length > MAX_PATHS ? ' …' : '']
  const fix = `Files that the event and its runs name: ${first}${more}`
  return refuse(`--bytes ${place}: neither the event nor a run of it names this file.`, fix)
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { details: { fix } })
}
