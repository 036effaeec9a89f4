import { hash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { UpshotError } from '../../../core/errors.ts'
import { parseJson } from '../../../core/json.ts'
import type { Starts } from '../../../core/safety/differences.ts'
import type { CasePage } from '../read-cases.ts'
import type { CorpusCase } from './make-corpus.ts'

/** The first line of a corpus. */
interface CorpusHead {
  /** The version of the form of its lines. */
  corpus: number
  workflow: string
  /** Hash of the code that was there when it was saved. */
  codeHash: string
  /** The causes of its runs. */
  starts: Starts
  /** Epoch milliseconds. */
  savedAt: number
  runs: number
}

export const CORPUS_VERSION = 2
const PAGE = 64

/** Writes gzipped lines: the head, each case, and the SHA-256 of all before. Returns that hash. */
export function writeCorpus(file: string, head: CorpusHead, cases: readonly CorpusCase[]): string {
  const text = [head, ...cases].map((line) => `${JSON.stringify(line)}\n`).join('')
  const sha256 = hash('sha256', text)
  writeFileSync(`${file}.part`, gzipSync(`${text}${JSON.stringify({ sha256 })}\n`))
  renameSync(`${file}.part`, file)
  return sha256
}

/** The head and the cases of a whole and unchanged corpus. Throws `invalid_request` for another. */
export function readCorpus(file: string): { head: CorpusHead; pages: AsyncIterable<CasePage> } {
  const text = readText(file)
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const lines = text.slice(0, end)
  const [first = '', ...cases] = lines.trimEnd().split('\n')
  const head = parseJson(first) as Partial<CorpusHead> | null | undefined
  const isWhole = text.slice(end) === `${JSON.stringify({ sha256: hash('sha256', lines) })}\n`
  if (typeof head?.corpus !== 'number') throw damaged(file, 'it does not begin as one')
  if (head.corpus === CORPUS_VERSION) {
    if (!isWhole) throw damaged(file, 'its lines do not fit the hash at its end')
    return { head: head as CorpusHead, pages: readPages(cases) }
  }
  throw new UpshotError('invalid_request', `${file} has version ${head.corpus} of a corpus, which is not known here.`, {
    details: { fix: 'Save it anew with this version: "upshot backtest <workflow> --save <file>".' },
  })
}

async function* readPages(lines: readonly string[]): AsyncGenerator<CasePage> {
  for (let from = 0; from < lines.length; from += PAGE) {
    const cases = lines.slice(from, from + PAGE).map((line): CorpusCase => JSON.parse(line))
    yield { cases, noBody: 0, notStarted: 0, unfinished: 0 }
  }
}

function readText(file: string): string {
  try {
    return gunzipSync(readFileSync(file)).toString()
  } catch (error) {
    throw damaged(file, error instanceof Error ? error.message : 'it cannot be read')
  }
}

function damaged(file: string, why: string): UpshotError {
  return new UpshotError('invalid_request', `${file} is no whole corpus: ${why}.`, {
    details: { fix: 'Name a file of "upshot backtest <workflow> --save <file>", or save it anew.' },
  })
}
