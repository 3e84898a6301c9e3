// Finds headings of the site that have the words of the search field. The index is a file of the site, so the search needs no server.
const field = document.querySelector('#search');
const found = document.querySelector('#found');
const root = document.currentScript.dataset.root;
const MOST = 30;

function wordsOf(text) {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean);
}

/** The entries that have all words. Entries with the words in their own title are first, and short titles are before long titles. */
function search(words) {
  const hits = window.searchIndex.filter(({ text }) => words.every((word) => text.includes(word)));
  const rank = ({ title }) => (words.every((word) => title.toLowerCase().includes(word)) ? 0 : 1);
  return hits.sort((a, b) => rank(a) - rank(b) || a.title.length - b.title.length).slice(0, MOST);
}

function show() {
  const words = wordsOf(field.value);
  const hits = words.length === 0 ? [] : search(words);
  const items = hits.map(({ title, page, address }) => {
    const link = document.createElement('a');
    link.href = root + address;
    link.textContent = page === title ? title : `${title} · ${page}`;
    const item = document.createElement('li');
    item.append(link);
    return item;
  });
  found.replaceChildren(...items);
  found.hidden = words.length === 0;
  if (words.length > 0 && hits.length === 0) found.textContent = 'nothing found';
}

/** The page loads the index at the first search. */
field.addEventListener(
  'focus',
  () => {
    const index = document.createElement('script');
    index.src = `${root}search-index.js`;
    index.onload = () => {
      field.addEventListener('input', show);
      show();
    };
    document.head.append(index);
  },
  { once: true },
);

// Opens the menu if the window is wide enough for the menu beside the text.
document.querySelector('nav details').open = window.matchMedia('(min-width: 50.01rem)').matches;
