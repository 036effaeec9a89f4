import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { type Content, type Html, html } from './html.ts'

/** The tabs of the account, in order: address → title. */
export const TABS = {
  '/account': 'Plan and limits',
  '/account/keys': 'API Keys',
  '/account/webhooks': 'Webhooks',
  '/account/deliveries': 'Deliveries',
  '/account/storages': 'Storages',
  '/account/transfers': 'Transfers',
  '/account/faults': 'Faults',
  '/account/audit': 'Audit',
} as const
export type Tab = keyof typeof TABS

/** A whole page. It reads without JavaScript; only its forms need the script. */
export function layout(tab: Tab, content: Content): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TABS[tab]} · Sandbox account</title>
<link rel="icon" href="/account/thumbnail.svg">
<link rel="stylesheet" href="/account/account.css">
<script src="/account/account.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand">Sandbox account</p>
<nav aria-label="Account"><ul>
${Object.entries(TABS).map(([path, title]) => tabItem(path, title, path === tab))}
</ul></nav>
</header>
<main id="content">
<h1>${TABS[tab]}</h1>
<noscript><p class="note">Everything can be read here without JavaScript. Changes need it, or the control API.</p></noscript>
<p id="problem" role="alert" hidden></p>
${content}
</main>
</body>
</html>
`
}

function tabItem(path: string, title: string, isCurrent: boolean): Html {
  return html`<li><a href="${path}"${isCurrent && html` aria-current="page"`}>${title}</a></li>
`
}

/** Parts of a page that belong together, under a heading. */
export function section(title: string, content: Content): Html {
  return html`<section><h2>${title}</h2>
${content}
</section>
`
}

/**
 * A table, or a sentence in its place when there is nothing to show. The last column may be of
 * buttons, and is `''` then. On narrow screens each row becomes a card, so each cell knows its
 * column.
 */
export function table(columns: string[], rows: Content[][], empty: string): Html {
  if (rows.length === 0) return html`<div class="list"><p class="empty">${empty}</p></div>`
  return html`<div class="list"><table>
<thead><tr>${columns.map(columnHead)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell, n) => html`<td data-label="${columns[n]}">${cell}</td>`)}</tr>\n`)}
</tbody>
</table></div>`
}

function columnHead(title: string): Html {
  return title === ''
    ? html`<th scope="col"><span class="unseen">Actions</span></th>`
    : html`<th scope="col">${title}</th>`
}

/** What a form calls, and what it is told by. */
export interface Call {
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  /** What it is about, for those who hear the button among others of its name. */
  about?: string
  /** Asked before it is sent; the button looks like it. */
  confirm?: string
}

/** A form that the script sends to the control API; the fields become the JSON body. */
export function callForm({ method, path, about, confirm }: Call, submit: string, fields: Content = ''): Html {
  return html`<form data-method="${method}" data-path="${path}"${confirm && html` data-confirm="${confirm}"`}>${fields}
<button type="submit"${confirm && html` class="danger"`}>${submit}${about && html`<span class="unseen"> ${about}</span>`}</button></form>`
}

/** A labelled line of text, read by the script as `kind`; `wide` for what is long. */
export function field(
  label: string,
  name: string,
  more: { value?: string; kind?: 'text' | 'number' | 'json' | 'list'; required?: boolean; wide?: boolean } = {},
): Html {
  const { value = '', kind = 'text', required = false, wide = false } = more
  return html`<label${wide && html` class="wide"`}>${label} <input name="${name}" value="${value}" data-kind="${kind}"${required && html` required`}></label>
`
}

/** A labelled choice. */
export function choice(label: string, name: string, options: readonly string[], chosen = options[0]): Html {
  return html`<label>${label} <select name="${name}">
${options.map((option) => html`<option${option === chosen && html` selected`}>${option}</option>\n`)}
</select></label>
`
}

/** A labelled box for more than one line of JSON. Without a name it is the whole body. */
export function jsonField(label: string, name: string, value: string): Html {
  return html`<label class="wide">${label} <textarea name="${name}" rows="3" data-kind="json" spellcheck="false">${value}</textarea></label>
`
}

/** A storage and a path in it: a list of two. `known` paths are offered while one is typed. */
export function placeFields(
  title: string,
  name: string,
  [storage, path]: readonly [StorageName, string],
  known: readonly string[] = [],
): Html {
  const list = `paths-${name}`
  return html`<fieldset><legend>${title}</legend>
${choice('Storage', `${name}[]`, STORAGES, storage)}<label>Path <input name="${name}[]" value="${path}" list="${list}" required></label>
<datalist id="${list}">${known.map((each) => html`<option value="${each}"></option>`)}</datalist></fieldset>
`
}

/** Boxes of which those that are ticked make a list. */
export function choices(title: string, name: string, options: readonly string[], chosen: readonly string[]): Html {
  return html`<fieldset><legend>${title}</legend>
${options.map((option) => html`<label class="switch"><input type="checkbox" name="${name}[]" value="${option}"${chosen.includes(option) && html` checked`}> ${option}</label>\n`)}</fieldset>
`
}

/** A labelled switch. */
export function toggle(label: string, name: string, isOn: boolean): Html {
  return html`<label class="switch"><input type="checkbox" name="${name}"${isOn && html` checked`}> ${label}</label>
`
}

export function moment(iso: string | null): Content {
  return iso === null ? '–' : html`<time datetime="${iso}" title="${iso}">${iso.replace('T', ' ').slice(0, 19)}</time>`
}

/** A state in the colour of what it means, and in words. */
export function state(kind: 'good' | 'bad' | 'wait' | 'note', text: string): Html {
  return html`<span class="state ${kind}">${text}</span>`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes in decimal units, with the exact number in the title. */
export function size(bytes: number | null): Content {
  if (bytes === null) return '–'
  const power = bytes < 1_000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const text = power === 0 ? String(bytes) : (bytes / 1_000 ** power).toFixed(1)
  return html`<span class="size" title="${bytes} bytes">${text} ${UNITS[power]}</span>`
}
