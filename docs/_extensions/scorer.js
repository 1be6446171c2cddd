// Search results: the guide first, then functions and examples; pages of kernels last.
const FOLDERS = [
  [/^(index|guide\/index|genindex)$/, -25],
  [/^guide\//, 20],
  [/^reference\/generated\/rollstat\.rolling_/, 16],
  [/^reference\/generated\/rollstat\.pandas\.Rolling\./, -10],
  [/^gallery\//, 5],
  [/^performance\//, -5],
  [/^internals\//, -40],
];

var Scorer = {
  score: ([docname, title, anchor, descr, score]) =>
    score + FOLDERS.filter(([folder]) => folder.test(docname)).reduce((sum, [, points]) => sum + points, 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
