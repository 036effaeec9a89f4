import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = ['src', 'test', 'bench', 'workflows', 'examples', 'config', 'templates', 'packaging']
const MAX_COLUMNS = 100
const MAX_WORDS = 20

interface Comment {
  /** The file, and the number of the first line. */
  at: string
  lines: readonly string[]
  text: string
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|css|js)$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
)
const comments = files.flatMap(readComments)

/** The comments of a file that begin a line: blocks, and runs of `//` lines. */
function readComments(file: string): Comment[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = text.matchAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/ .*(?:\n[ \t]*\/\/ .*)*)/gm)
  return [...found].map(({ 0: comment, index }) => ({
    at: `${file}:${text.slice(0, index).split('\n').length}`,
    lines: comment.split('\n'),
    text: comment.replace(/^[ \t]*(\/\*+|\*\/|\* ?|\/\/ )|\*\/$/gm, ''),
  }))
}

/** Sentences without their code, which counts as one word. */
function sentencesOf({ text }: Comment): string[] {
  const paragraphs = text.split(/\n\s*\n|\n(?=\s*[-*@|])/)
  const plain = paragraphs.map((paragraph) =>
    paragraph
      .replace(/`[^`]*`|\{@link [^}]*\}/g, 'code')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return plain.flatMap((paragraph) => paragraph.split(/(?<=[.!?:])\s+(?=[A-Z"“(c])/))
}

const countWords = (sentence: string) => sentence.split(' ').filter((word) => /\w/.test(word)).length
const isProse = ({ text }: Comment) => !/biome-ignore|@ts-/.test(text)

test('no line of a comment is longer than 100 columns', () => {
  const wide = comments.filter(isProse).filter(({ lines }) => lines.some((line) => line.length > MAX_COLUMNS))
  expect(wide.map(({ at }) => at)).toEqual([])
})

test('no sentence of a comment has more than 20 words', () => {
  const long = comments
    .filter(isProse)
    .flatMap((comment) => sentencesOf(comment).map((sentence) => ({ at: comment.at, sentence })))
    .filter(({ sentence }) => countWords(sentence) > MAX_WORDS)
  expect(long.map(({ at, sentence }) => `${at} ${sentence}`)).toEqual([])
})

test('no sentence of a comment begins with a clause that hides its noun', () => {
  const hidden = /^(What|Whoever|Who|Whose|Of (what|which)|In which|Otherwise|Until then)\b(?!.*\?$)/
  const found = comments
    .filter(isProse)
    .flatMap((comment) => sentencesOf(comment).map((sentence) => `${comment.at} ${sentence}`))
    .filter((line) => hidden.test(line.slice(line.indexOf(' ') + 1)))
  expect(found).toEqual([])
})

test('no line of code is longer than 120 columns', () => {
  const wide = files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (line.length > 120 ? [`${file}:${index + 1}`] : [])),
    )
  expect(wide).toEqual([])
})
