import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import express, { Router } from 'express'

const NOT_BUILT = `The dashboard is not built.

The package brings it built. In a checkout of the source, build it once with "npm run build:dashboard".
The API works without it: see docs/admin-api.md.
`

/** Built files with a hash in their name never change. */
const A_YEAR_MS = 365 * 86_400_000

/**
 * The dashboard's built page: its files, and `index.html` for every other path, because the page
 * itself reads the address. Without a build every path is a 404 that says how to build it.
 */
export function staticPage(folder: string, basePath: string): Router {
  const router = Router()
  const index = join(folder, 'index.html')
  router.use('/assets', express.static(join(folder, 'assets'), { immutable: true, maxAge: A_YEAR_MS, index: false }))
  router.use(express.static(folder, { index: false, maxAge: 0 }))
  router.get(/^\/(?!assets\/|api\/).*$/, (_request, response) => {
    if (!existsSync(index)) return void response.status(404).type('text/plain').send(NOT_BUILT)
    const page = readFileSync(index, 'utf8').replace(/<base href="\/"\s*\/?>/, `<base href="${basePath}/" />`)
    response.set('Cache-Control', 'no-cache').type('html').send(page)
  })
  return router
}
