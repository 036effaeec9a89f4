import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import express from 'express'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { routeOf } from '../../site/pages.ts'
import { inspect } from '../dashboard/support/in-browser.ts'
import { chromiumTests } from '../sandbox/support/browser.ts'
import { ROOT, readDecisions, readPages } from './pages.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const BUILT = join(ROOT, 'site/dist')
const run = promisify(execFile)

/** Pages of each kind: the front page, prose, wide tables, a decision, source code. */
const INSPECTED = [
  '/',
  '/tutorial.html',
  '/concepts.html',
  '/configuration.html',
  '/decisions/001-answer-after-commit.html',
  '/source/workflows/clean-up.workflow.ts.html',
]

/** For each word that somebody looks for: the page that has to be among the results. */
const WORDS = {
  'approvals approve': 'commands',
  '--min-share': 'workflows',
  'reconcile.<name>.grace': 'configuration',
  UPSHOT_TRUST_READS: 'configuration',
  output_not_json: 'troubleshooting',
  'under way self-caused': 'troubleshooting',
}

beforeAll(async () => {
  await run('npm', ['run', '-s', 'docs:build'], { cwd: ROOT })
})

test('every guide and decision is a page', () => {
  const files = [...readPages(), ...readDecisions()].map(({ name }) => name).filter((name) => name !== 'README.md')
  const missing = files.filter((file) => !existsSync(join(BUILT, routeOf(file).replace(/md$/, 'html'))))
  expect(missing).toEqual([])
})

test('llms.txt names every guide with a sentence, and llms-full.txt has the text of each', () => {
  const [index, all] = ['llms.txt', 'llms-full.txt'].map((name) => readFileSync(join(BUILT, name), 'utf8'))
  for (const { name, text } of readPages().filter(({ name }) => name !== 'README.md')) {
    expect(index).toMatch(new RegExp(`^- \\[[^\\]]+\\]\\(${routeOf(name)}\\): .+$`, 'm'))
    expect(all).toContain(text)
  }
})

test('every link of the built site leads to a file of it', () => {
  const built = globSync('**/*.html', { cwd: BUILT })
  const addresses = built.flatMap((file) =>
    [...readFileSync(join(BUILT, file), 'utf8').matchAll(/ (?:href|src)="\/([^"#?]*)/g)].map(([, path = '']) => path),
  )
  const files = [...new Set(addresses)].map((path) => path.replace(/(^|\/)$/, '$1index.html'))
  expect(files.length).toBeGreaterThan(built.length)
  expect(files.filter((file) => !existsSync(join(BUILT, file)))).toEqual([])
})

test('the code of the site has the right types', async () => {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  await expect(run(tsc, ['-p', join(ROOT, 'site')])).resolves.toBeDefined()
})

describe('in a browser', () => {
  const { inBrowser, openTab } = chromiumTests()
  let server: Server
  let origin: string

  beforeAll(async () => {
    server = await new Promise<Server>((resolve) => {
      const listening = express()
        .use(express.static(BUILT))
        .listen(0, '127.0.0.1', () => resolve(listening))
    })
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterAll(() => void server?.close())

  inBrowser('no kind of page has a fault of accessibility, light or dark, wide or narrow', async () => {
    const { page, complaints } = await openTab()
    const found: string[] = []
    for (const path of INSPECTED) {
      await page.goto(origin + path)
      found.push(...(await inspect(page, path)))
    }
    expect([found, complaints]).toEqual([[], []])
  })

  inBrowser('a search finds the page that explains the words, by keyboard alone', async () => {
    const { page } = await openTab()
    for (const [word, path] of Object.entries(WORDS)) {
      await page.goto(origin)
      await openSearch(page)
      await page.keyboard.type(word)
      const results = page.getByRole('option').getByRole('link')
      await expect
        .poll(() => results.evaluateAll((all) => all.map((link) => link.getAttribute('href'))), { message: word })
        .toContainEqual(expect.stringMatching(new RegExp(`^/${path}\\.html`)))
      await page.keyboard.press('Enter')
      await page.waitForURL(/\.html/)
      expect((await page.locator('h1').innerText()).length).toBeGreaterThan(0)
    }
  })

  /** The page takes keys once its script has begun. */
  async function openSearch(page: Page): Promise<void> {
    const box = page.getByRole('searchbox')
    await expect
      .poll(async () => {
        await page.keyboard.press('Control+k')
        return box.isVisible()
      })
      .toBe(true)
  }
})
