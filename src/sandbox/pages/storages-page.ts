import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxParts } from '../service/sandbox-parts.ts'
import type { Entry } from '../storage/entry.ts'
import { type Content, foreign, foreignPlain, type Html, html } from './html.ts'
import { callForm, layout, moment, placeFields, section, size, table } from './layout.ts'

const MAX_SHOWN = 500

/** A folder of a storage: its entries, and forms to upload, delete and transfer. */
export function storagesPage(parts: SandboxParts, storage: StorageName, path: string): Html {
  const query = {
    storage,
    path,
    recursive: false,
    sort: { field: 'name', descending: false },
    limit: MAX_SHOWN,
    offset: 0,
  } as const
  const total = parts.index.count(query)
  const entries = parts.index.page(query)
  return layout('/account/storages', [
    html`<ul class="tabs" aria-label="Storages">${STORAGES.map((name) => storageItem(name, name === storage))}</ul>
<p>${breadcrumb(storage, path)} <span class="quiet small">${foreign(parts.storages[storage].dir)}</span></p>`,
    total > MAX_SHOWN && html`<p class="quiet small">The first ${MAX_SHOWN} of ${total}.</p>`,
    table(['Name', 'Size', 'Type', 'Modified', 'Id', ''], entries.map(entryRow), 'This folder is empty.'),
    section(
      'Upload',
      html`<form data-method="PUT" data-path="/_sandbox/storages/${storage}/content" data-folder="${path}">
<label>File <input type="file" name="file" required></label>
<button type="submit">Upload here</button></form>`,
    ),
    (total > 0 || path !== '/') &&
      section(
        'Transfer',
        callForm({ method: 'POST', path: '/_sandbox/transfers' }, 'Transfer', [
          placeFields(
            'From: a file or a folder',
            'from',
            [storage, path === '/' ? '' : path],
            entries.map((entry) => entry.path),
          ),
          placeFields('To: a path, or a folder ending in /', 'to', [
            storage === 'storage_b' ? 'storage_c' : 'storage_b',
            '/',
          ]),
        ]),
      ),
  ])
}

function storageItem(name: StorageName, isCurrent: boolean): Html {
  return html`<li><a href="/account/storages/${name}"${isCurrent && html` aria-current="true"`}>${name}</a></li>
`
}

function breadcrumb(storage: StorageName, path: string): Content {
  const folders = path === '/' ? [] : path.slice(1).split('/')
  const links = folders.map((name, n) => {
    return html` / <a href="${folderLink(storage, `/${folders.slice(0, n + 1).join('/')}`)}">${foreign(name)}</a>`
  })
  return [html`<a href="${folderLink(storage, '/')}">${storage}</a>`, links]
}

function folderLink(storage: StorageName, path: string): string {
  return `/account/storages/${storage}?path=${encodeURIComponent(path)}`
}

function entryRow(entry: Entry): Content[] {
  const content = `/_sandbox/storages/${entry.storage}/content?path=${encodeURIComponent(entry.path)}`
  const what = `${foreignPlain(entry.path)}${entry.type === 'folder' ? ' and everything in it' : ''}`
  return [
    entry.type === 'folder'
      ? html`<a href="${folderLink(entry.storage, entry.path)}">${foreign(entry.name)}/</a>`
      : foreign(entry.name),
    size(entry.size),
    entry.mimeType ?? 'folder',
    moment(isoTime(entry.modifiedAt)),
    html`<code>${foreign(entry.id)}</code>`,
    callForm({ method: 'DELETE', path: content, about: entry.name, confirm: `Delete ${what} for good?` }, 'Delete'),
  ]
}
