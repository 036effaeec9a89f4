import { readFileSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { type ErrorRequestHandler, type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { STORAGES } from '../../core/service/storage.ts'
import { reportFailure, toWireError } from '../http/api-error.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import { notFound } from '../state/not-found.ts'
import { normalizePath } from '../storage/storage-path.ts'
import { keyPage, keysPage, planPage } from './account-pages.ts'
import { auditPage, faultsPage, transfersPage } from './activity-pages.ts'
import { foreign, type Html, html } from './html.ts'
import { layout, STYLES } from './layout.ts'
import { storagesPage } from './storages-page.ts'
import { deliveriesPage, eventPage, webhooksPage } from './webhook-pages.ts'

/** Content-Security-Policy: nothing from other origins, nothing inline, no frames. */
const POLICY = [
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ')

const ASSETS = { ...STYLES, 'account.js': './account.js', 'thumbnail.svg': './thumbnail.svg' }

const storageName = z.enum(STORAGES)

/** The account pages. They only read; their forms call the control API. */
export function accountPagesRouter(parts: SandboxParts, apiUrl: () => string): Router {
  const router = Router()
  router.use(protect)
  const page = (path: string, render: (request: { id: string; query: Record<string, string> }) => Html) =>
    router.get(path, (request, response) => {
      const query = z.record(z.string(), z.string()).parse(request.query)
      response.type('html').send(render({ id: String(request.params.id ?? ''), query }).text)
    })

  router.get('/', (_request, response) => response.redirect('/account'))
  page('/account', () => planPage(parts, apiUrl()))
  page('/account/keys', () => keysPage(parts))
  page('/account/keys/:id', ({ id }) => keyPage(parts.keys.get(id)))
  page('/account/webhooks', () => webhooksPage(parts))
  page('/account/deliveries', ({ query }) => deliveriesPage(parts, query.webhook))
  page('/account/events/:id', ({ id }) => eventPage(parts, id))
  page('/account/storages', () => storagesPage(parts, 'storage_a', '/'))
  page('/account/storages/:id', ({ id, query }) =>
    storagesPage(parts, storageName.parse(id), normalizePath(query.path ?? '/')),
  )
  page('/account/transfers', () => transfersPage(parts))
  page('/account/faults', () => faultsPage(parts))
  page('/account/audit', () => auditPage(parts))

  router.get('/storages/:storage/:id/thumbnail', (_request, response) => response.redirect('/account/thumbnail.svg'))
  router.get('/storages/:storage/:id', (request, response) => {
    const storage = storageName.parse(request.params.storage)
    const path = parts.index.byId(storage, request.params.id)?.path ?? '/'
    response.redirect(`/account/storages/${storage}?path=${encodeURIComponent(dirname(path))}`)
  })
  for (const [name, path] of Object.entries(ASSETS)) router.get(`/account/${name}`, serveAsset(path))
  router.use('/account', () => notFound('page', 'of this name'))
  router.use(answerErrorsWithPage(parts))
  return router
}

const protect: RequestHandler = (_request, response, next) => {
  response.set({
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  })
  next()
}

/** Answers errors with a page that links back to the account. */
function answerErrorsWithPage({ log }: Pick<SandboxParts, 'log'>): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) return next(error)
    reportFailure(log, error)
    const { status, message } = toWireError(error)
    const content = html`<section class="card"><h2>${status}</h2>
<p>${foreign(message)}</p>
<p><a href="/account">Back to the account</a></p></section>`
    response.status(status).type('html').send(layout(null, content).text)
  }
}

function serveAsset(path: string): RequestHandler {
  const content = readFileSync(new URL(path, import.meta.url))
  return (_request, response) => void response.type(extname(path)).send(content)
}
