import { type EventSearch, mentionsPath, parsePathPattern } from '../../../core/incoming/event-search.ts'
import { listSubjects } from '../../../core/service/subjects.ts'
import type { Dialect } from '../../dialect.ts'
import { type Condition, given, likePattern } from '../../rows/build-where.ts'

type BodySearch = { [Part in 'path' | 'subject' | 'words']: EventSearch[Part] | undefined }

export function describeTimes({ since, until }: EventSearch): Condition[] {
  return given({ 'received_at >= ?': since, 'received_at < ?': until })
}

/** Conditions on rows without their moments. They find every body that `fitsBody`, and others. */
export function describeSearch(search: EventSearch, { like, position }: Dialect): Condition[] {
  const { idBeginning, type, account, path, words = [] } = search
  const conditions = given({ 'account = ?': account, [`${position}(id, ?) = 1`]: idBeginning })
  if (type?.endsWith('.*')) conditions.push([`${position}(type, ?) = 1`, type.slice(0, -1)])
  else conditions.push(...given({ 'type = ?': type }))
  for (const text of path === undefined ? words : [...words, parsePathPattern(path).path]) {
    // A sender may escape any character, so such a body is compared after parsing.
    const condition = `(body ${like} ? ESCAPE '\\' OR ${position}(body, '\\') > 0)`
    conditions.push([condition, likePattern(inJson(text))])
  }
  return conditions
}

/** The parts of a search for `fitsBody`; null: every body fits. */
export function bodySearchOf({ path, subject, words = [] }: EventSearch): BodySearch | null {
  return path === undefined && subject === undefined && words.length === 0 ? null : { path, subject, words }
}

export function fitsBody(body: string, { path, subject, words = [] }: BodySearch): boolean {
  if (body === '') return false
  const parsed = JSON.parse(body)
  if (subject !== undefined && !listSubjects(parsed.data).includes(subject)) return false
  const texts = [body, JSON.stringify(parsed)].map(foldCase)
  const hasWords = words.every((word) => texts.some((text) => text.includes(foldCase(inJson(word)))))
  return hasWords && (path === undefined || mentionsPath(parsed.data, parsePathPattern(path)))
}

/** ASCII letters in lower case. */
function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** The text as it stands within a JSON text. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
