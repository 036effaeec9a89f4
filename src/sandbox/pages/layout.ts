import { STORAGES, type StorageName } from '../../core/service/storage.ts'
import { type Content, foreign, type Html, html } from './html.ts'

/** The tabs of the account in order, as address → title. */
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
type Tab = keyof typeof TABS

/** Styles of every page, by name, with their places. The dashboard has all but the last, too. */
export const STYLES = {
  'tokens.css': '../../../style/tokens.css',
  'base.css': '../../../style/base.css',
  'frame.css': '../../../style/frame.css',
  'account.css': './account.css',
} as const

/** A whole page; `null`: one that is no tab. It reads without JavaScript; forms need the script. */
export function layout(tab: Tab | null, content: Content): Html {
  const title = tab === null ? 'Nothing to show' : TABS[tab]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sandbox account</title>
<link rel="icon" href="/account/thumbnail.svg">
${Object.keys(STYLES).map(styleLink)}
<script src="/account/account.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="side">
<p class="brand">Sandbox</p>
<nav aria-label="Account"><ul>
${Object.entries(TABS).map(([path, title]) => tabItem(path, title, path === tab))}
</ul></nav>
</header>
<main id="content">
<h1>${title}</h1>
<noscript><p class="quiet small">JavaScript is off: pages can be read, but changes need it or the control
API.</p></noscript>
<p id="problem" class="problem" role="alert" hidden></p>
${content}
</main>
</body>
</html>
`
}

function styleLink(name: string): Html {
  return html`<link rel="stylesheet" href="/account/${name}">
`
}

function tabItem(path: string, title: string, isCurrent: boolean): Html {
  return html`<li><a href="${path}"${isCurrent && html` aria-current="page"`}>${title}</a></li>
`
}

export function section(title: Content, content: Content): Html {
  return html`<section class="card"><h2>${title}</h2>
${content}
</section>
`
}

/**
 * A table, or the `empty` sentence. A column titled `''` holds buttons; `data-label` titles the
 * cells on narrow screens.
 */
export function table(columns: string[], rows: Content[][], empty: string): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  return html`<div class="card"><table>
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

/** The control API call behind a form. */
export interface Call {
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  /** The target of the button, for screen readers: many buttons have the same name. */
  about?: string
  /** Question asked before the call; also makes the button red. */
  confirm?: string
}

/** A form that the script sends to the control API, with its fields as the JSON body. */
export function callForm({ method, path, about, confirm }: Call, submit: string, fields: Content = ''): Html {
  const question = confirm && html` data-confirm="${confirm}"`
  const target = about && html`<span class="unseen"> ${foreign(about)}</span>`
  return html`<form data-method="${method}" data-path="${path}"${question}>${fields}
<button type="submit"${confirm && html` class="danger"`}>${submit}${target}</button></form>`
}

/** A labelled text field, read by the script as `kind`. */
export function field(
  label: string,
  name: string,
  more: { value?: string; kind?: 'text' | 'number' | 'json' | 'list'; required?: boolean; wide?: boolean } = {},
): Html {
  const { value = '', kind = 'text', required = false, wide = false } = more
  const attributes = html`name="${name}" value="${value}" dir="auto" data-kind="${kind}"${required && html` required`}`
  return html`<label${wide && html` class="wide"`}>${label} <input ${attributes}></label>
`
}

export function choice(label: string, name: string, options: readonly string[], chosen = options[0]): Html {
  return html`<label>${label} <select name="${name}">
${options.map((option) => html`<option${option === chosen && html` selected`}>${option}</option>\n`)}
</select></label>
`
}

/** A labelled field for JSON. Without a name it is the whole body. */
export function jsonField(label: string, name: string, value: string): Html {
  const box = html`<textarea name="${name}" rows="3" data-kind="json" spellcheck="false">${value}</textarea>`
  return html`<label class="wide">${label} ${box}</label>
`
}

/** A storage and a path in it, sent as a list of two. The browser suggests the `known` paths. */
export function placeFields(
  title: string,
  name: string,
  [storage, path]: readonly [StorageName, string],
  known: readonly string[] = [],
): Html {
  const list = `paths-${name}`
  const attributes = html`name="${name}[]" value="${path}" list="${list}" dir="auto" required`
  const pathField = html`<label>Path <input ${attributes}></label>`
  return html`<fieldset><legend>${title}</legend>
${choice('Storage', `${name}[]`, STORAGES, storage)}${pathField}
<datalist id="${list}">${known.map((each) => html`<option value="${each}"></option>`)}</datalist></fieldset>
`
}

export function choices(title: string, name: string, options: readonly string[], chosen: readonly string[]): Html {
  const box = (option: string) => {
    const attributes = html`name="${name}[]" value="${option}"${chosen.includes(option) && html` checked`}`
    return html`<label class="switch"><input type="checkbox" ${attributes}> ${option}</label>
`
  }
  return html`<fieldset><legend>${title}</legend>
${options.map(box)}</fieldset>
`
}

export function toggle(label: string, name: string, isOn: boolean): Html {
  return html`<label class="switch"><input type="checkbox" name="${name}"${isOn && html` checked`}> ${label}</label>
`
}

export function moment(iso: string | null): Content {
  return iso === null ? '–' : html`<time datetime="${iso}" title="${iso}">${iso.replace('T', ' ').slice(0, 19)}</time>`
}

export function state(kind: 'completed' | 'failed' | 'waiting' | 'idle', text: string): Html {
  return html`<span class="status" data-state="${kind}">${text}</span>`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes in decimal units, with the exact number in the title. */
export function size(bytes: number | null): Content {
  if (bytes === null) return '–'
  const power = bytes < 1_000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const text = power === 0 ? String(bytes) : (bytes / 1_000 ** power).toFixed(1)
  return html`<span class="size" title="${bytes} bytes">${text} ${UNITS[power]}</span>`
}
