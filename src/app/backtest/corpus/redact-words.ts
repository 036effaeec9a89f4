import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPlainObject } from '../../../core/json.ts'
import { compareSides } from '../../../engine/play/compare/compare-sides.ts'
import type { RunSide } from '../../../engine/play/compare/deed.ts'
import { isSecretName, REDACTED } from '../../../engine/play/portable.ts'
import { type Rewriting, rewriteSide } from '../../play/rewrite-run.ts'
import { WordRedactor } from './word-redactor.ts'

/** Words that verbs, answers of the service and files bring along. */
const OF_OURS = [
  'files get find list snapshot hash delete deleteAll download downloadUrl withDownload exists',
  'outcome deleted changed not found proof reply none true false null undefined default',
  'id name path type file folder size bytes sha256 service mimeType createdAt modifiedAt items cursor total',
]

/**
 * Other words in every text that an event or a step brought. Those of the modules in the folder
 * stay, and so do those of the `kept` texts. Nobody can undo it without the key.
 */
export function redactWords(workflowsDir: string, kept: readonly string[], key: Uint8Array): Rewriting {
  const modules = readdirSync(workflowsDir, { recursive: true, encoding: 'utf8' }).filter((name) => {
    return /\.[cm]?[jt]s$/.test(name) && !/\.test\.|node_modules/.test(name)
  })
  const texts = modules.map((name) => readFileSync(join(workflowsDir, name), 'utf8'))
  const words = new WordRedactor(key, [...OF_OURS, ...texts, ...kept])
  const text = (value: string) => words.redact(value)
  return { text, name: text, json: (value) => redactJson(words, value) }
}

function redactJson(words: WordRedactor, text: string): string {
  const walk = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return isSecretName(name) ? REDACTED : words.redact(value)
    if (Array.isArray(value)) return value.map((item) => walk(item, name))
    if (!isPlainObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([each, item]) => [words.redact(each), walk(item, each)]))
  }
  return JSON.stringify(walk(JSON.parse(text), ''))
}

/** Whether a play with other words has the effects of one with the own words, in its order. */
export function isAlike(rewriting: Rewriting, own: RunSide, other: RunSide): boolean {
  const bare = ({ end, deeds }: RunSide): RunSide => ({
    end: { kind: end.kind, text: '', output: null },
    deeds: deeds.map(({ expect: _, content: __, ...deed }) => deed),
  })
  return compareSides(bare(rewriteSide(rewriting, own)), bare(other)).kind === 'same'
}
