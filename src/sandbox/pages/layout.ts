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
<header>
<p>Sandbox account</p>
<nav aria-label="Account"><ul>
${Object.entries(TABS).map(([path, title]) => tabItem(path, title, path === tab))}
</ul></nav>
</header>
<main>
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

/** A table, or a sentence in its place when there is nothing to show. */
export function table(columns: string[], rows: Content[][], empty: string): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  return html`<div class="scroll"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}
</tbody>
</table></div>`
}

/** A form that the script sends to the control API; the fields become the JSON body. */
export function callForm(call: { method: string; path: string }, submit: string, fields: Content = ''): Html {
  return html`<form data-method="${call.method}" data-path="${call.path}">${fields}
<button type="submit">${submit}</button></form>`
}

/** A labelled line of text, read by the script as `kind`. */
export function field(
  label: string,
  name: string,
  more: { value?: string; kind?: 'text' | 'number' | 'json' | 'list'; required?: boolean } = {},
): Html {
  const { value = '', kind = 'text', required = false } = more
  return html`<label>${label} <input name="${name}" value="${value}" data-kind="${kind}"${required && html` required`}></label>
`
}

/** A labelled choice. */
export function choice(label: string, name: string, options: readonly string[], chosen = options[0]): Html {
  return html`<label>${label} <select name="${name}">
${options.map((option) => html`<option${option === chosen && html` selected`}>${option}</option>\n`)}
</select></label>
`
}

/** A labelled switch. */
export function toggle(label: string, name: string, isOn: boolean): Html {
  return html`<label><input type="checkbox" name="${name}"${isOn && html` checked`}> ${label}</label>
`
}

export function moment(iso: string | null): Content {
  return iso === null ? '–' : html`<time datetime="${iso}">${iso.replace('T', ' ').replace('Z', '')}</time>`
}
