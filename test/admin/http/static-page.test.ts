import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { startConsole } from '../support/start-console.ts'

test('the page is served at every path, below the base path, and its files may be kept for ever', async () => {
  const page = tempFolder()
  mkdirSync(join(page, 'assets'))
  writeFileSync(join(page, 'index.html'), '<html><head><base href="/" /></head></html>')
  writeFileSync(join(page, 'assets', 'main-1a2b.js'), 'export {}')
  const access = { basePath: '/ops', url: null, fileTokenHash: '', proxy: null }
  const { base } = await startConsole({ page, access })
  for (const path of ['/', '/login', '/runs/run_1']) {
    const response = await fetch(`${base}${path}`)
    expect([path, response.status, await response.text()]).toEqual([
      path,
      200,
      '<html><head><base href="/ops/" /></head></html>',
    ])
    expect(response.headers.get('cache-control')).toBe('no-cache')
  }
  const asset = await fetch(`${base}/assets/main-1a2b.js`)
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await fetch(`${base}/assets/gone.js`)).status).toBe(404)
  expect((await fetch(`${base}/api/v1/nothing`)).headers.get('content-type')).toContain('application/problem+json')
})
